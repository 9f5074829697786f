"""What can go wrong with an integration."""

from __future__ import annotations


class UnsupportedModel(ValueError):
    """A model that an integrator does not cover; the text says what it would take."""


class SimulationDiverged(RuntimeError):
    """A step that could not be solved. The state is the last good one."""
