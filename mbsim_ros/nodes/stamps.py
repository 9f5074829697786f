"""Stamps of messages as whole nanoseconds, and back."""

from __future__ import annotations

from builtin_interfaces.msg import Time

SECOND = 1_000_000_000


def nanoseconds(stamp: Time) -> int:
    """A stamp as nanoseconds."""
    return int(stamp.sec) * SECOND + int(stamp.nanosec)


def stamp_of(ns: int) -> Time:
    """Nanoseconds as a stamp."""
    return Time(sec=ns // SECOND, nanosec=ns % SECOND)
