"""What can go wrong with an integration."""

from __future__ import annotations


class UnsupportedModel(ValueError):
    """A model that an integrator does not cover; the text says what it would take."""


class SimulationDiverged(RuntimeError):
    """A step that could not be taken. The state is the last good one.

    Where the integrator knows them: `began`, the time [s] since which steps have been hard to solve; `joint`, which
    turns furthest in a step; `proposed_dt` [s], a step that would do.
    """

    began: float | None = None
    joint: str | None = None
    proposed_dt: float | None = None
