"""When the quasi-Newton iteration does not solve a step: Newton with line search, then smaller steps."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.contact.contact_kernel import FN
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.integrators.newton_kernel import newton_step_into
from mbsim_ros.integrators.solve_kernel import NOT_CONVERGED
from mbsim_ros.integrators.step_kernel import steps_into
from mbsim_ros.integrators.vectors import RESIDUAL

if TYPE_CHECKING:
    from mbsim_ros.integrators.lie_variational import LieVariational

LARGEST_NEWTON = 300  # independent velocities: its matrix is full
HALVINGS = 6
_log = logging.getLogger(__name__)


def recover(simulation: LieVariational) -> tuple[int, str]:
    """Take one step by other means; returns the iterations and which count of `Counts` it belongs to.

    Raises SimulationDiverged; the state is then that before the step.
    """
    _forget_factors(simulation)
    before = simulation.saved()
    iterations = _by_newton(simulation)
    if iterations > 0:
        return iterations, "newton_steps"
    for halving in range(1, HALVINGS + 1):
        simulation.restore(before)
        parts = 2**halving
        substeps = np.tile(simulation._substeps / parts, parts)  # of order 4: each part a whole composition
        done, iterations, _ = steps_into(simulation._system, substeps, 0, 1, simulation.NO_TARGETS, 1)
        if done == 1:
            _log.info("t = %.6g s: the step was taken in %d parts", simulation.time, parts)
            return iterations, "halvings"
    simulation.restore(before)
    _forget_factors(simulation)
    raise SimulationDiverged(_why(simulation))


def _by_newton(simulation: LieVariational) -> int:
    """Solve all substeps by Newton's method; returns the iterations, or a negative number where one is not solved."""
    nu = simulation.configuration.nu
    if nu > LARGEST_NEWTON:
        return NOT_CONVERGED
    total, scratch = 0, (np.empty((nu, nu)), np.empty(nu), np.empty(nu))
    for h in simulation._substeps:
        iterations = newton_step_into(simulation._system, float(h), *scratch)
        if iterations < 0:
            return int(iterations)
        total += iterations
    return total


def _forget_factors(simulation: LieVariational) -> None:
    """Clear what an iteration that failed has left, which may be no numbers; the step has already been taken back."""
    for array in simulation._system.matrix:
        if array is not None:
            array[...] = 0.0


def _why(simulation: LieVariational) -> str:
    """Time, column with the largest residual, contact state, remedy."""
    system = simulation._system
    residual = np.abs(system.work.vectors[RESIDUAL, : simulation.configuration.nu])
    finite = np.where(np.isfinite(residual), residual, np.inf)
    worst = int(finite.argmax())
    column = simulation.configuration.column_names[worst]
    forces = np.concatenate([simulation.contacts.results[:, FN], simulation.pair_contacts.results[:, FN]])
    touching = f"{int((forces > 0.0).sum())} of {len(forces)} points in contact"
    fastest = np.abs(system.state.u).max(initial=0.0)
    return (
        f"t = {simulation.time:.6g} s: no solution of the step was found, largest residual {finite[worst]:.3g} in "
        f"'{column}'; dt = {simulation.dt:g} s, largest velocity {fastest:.3g}, {touching}; try a smaller dt"
    )
