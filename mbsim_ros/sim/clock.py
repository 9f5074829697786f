"""Time as whole nanoseconds: t = k · dt has no rounding, and stamps of messages are exact."""

from __future__ import annotations

import math
from typing import Any

SECOND = 1_000_000_000  # ns
ROUNDING = 1e-6  # of a step: what a decimal number such as 0.001 may be off a whole number of nanoseconds


def step_in_nanoseconds(dt: Any, name: str = "dt") -> int:
    """A step of dt seconds in nanoseconds. Raises ValueError unless that is whole, above 0 and at most one second."""
    seconds = number(name, dt)
    if not 0.0 < seconds <= 1.0:
        raise ValueError(f"{name}: expected a step above 0 s and at most 1 s, got {dt!r}")
    exact = seconds * SECOND
    whole = round(exact)
    if whole < 1 or abs(exact - whole) > ROUNDING * exact:
        raise ValueError(
            f"{name}: expected a whole number of nanoseconds, got {exact:.9g} ns; use {max(whole, 1) / SECOND:.9g} s"
        )
    return whole


def whole_steps(name: str, seconds: Any, dt_ns: int) -> int:
    """How many steps make this time [s] above 0. Raises ValueError where it is not a whole number of them."""
    span = number(name, seconds)
    steps = round(span * SECOND / dt_ns)
    if steps < 1 or abs(span * SECOND - steps * dt_ns) > ROUNDING * dt_ns * max(steps, 1):
        raise ValueError(f"{name}: expected a multiple of dt = {dt_ns / SECOND:g} s, got {seconds!r}")
    return steps


def nearest_steps(name: str, seconds: Any, dt_ns: int) -> int:
    """The number of steps nearest to this time [s]. Raises ValueError where it is negative."""
    span = number(name, seconds)
    if span < 0.0:
        raise ValueError(f"{name}: expected a time of 0 s or more, got {seconds!r}")
    return round(span * SECOND / dt_ns)


def number(name: str, value: Any) -> float:
    """Value as a finite float."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected a number, got {value!r}") from None
    if not math.isfinite(result):
        raise ValueError(f"{name}: expected a finite number, got {value!r}")
    return result
