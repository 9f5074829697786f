# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W 5.3: a box thrown on a rubber floor, with W's contact and his state machine, vertex by vertex."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mbsim_ros.contact.modes import NO_CONTACT, STICKING, ContactMode
from mbsim_ros.contact.parameters import derive_parameters
from mbsim_ros.contact.points import contact_points
from mbsim_ros.experiments.experiment import Outcome, Progress
from mbsim_ros.experiments.figures import PRINTED, label, panels
from mbsim_ros.experiments.parameters import ExperimentParameter
from mbsim_ros.experiments.robots import document_robot
from mbsim_ros.experiments.timing import MACHINE, cpu_seconds, this_machine
from mbsim_ros.integrators.maximal.integrator import QuaternionVariational
from mbsim_ros.lie import quaternion

TITLE = "A box thrown on the floor"
SOURCE = "W 5.3, Figures 5.3 to 5.6"
SIZE, MASS = (0.3, 0.4, 0.2), 70.0
SIGNS = [[1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, -1], [1, -1, 1], [1, 1, 1], [-1, 1, 1], [-1, -1, 1]]
VERTICES = 0.5 * np.array(SIZE) * SIGNS  # W's 1 … 8
STIFFNESS, DAMPING, SLOWEST = 75000.0, 2000.0, 1e-3
FRICTION = 0.4  # errata
START, VELOCITY = (0.0, 0.0, 0.3), (5.0, 0.0, -0.04)
TURN = (0.9239, 0.2706, 0.2706, 0.0)
STEP, DURATION = 1e-3, 1.5
TOLERANCE = 1e-8  # of the equations, as the reference has it
AT_REST = 1e-2  # m/s
PARAMETERS = (
    ExperimentParameter("h", STEP, "s", 1e-5, 2e-3, "step"),
    ExperimentParameter("duration", DURATION, "s", 0.2, 100.0, "of the run"),
    ExperimentParameter("friction", FRICTION, "", 0.0, 2.0, "μ_d = μ_s of the floor, which W does not print"),
)
PRINTED_VALUES: dict[str, object] = {
    "first contact [s]": 0.102, "first vertex to touch": 1, "vertices that never touch": [3, 4],
    "at rest from [s]": 1.3, "vertices that stick in the end": [5, 6, 7, 8], "most Newton steps in a step": 5,
    "Newton steps at rest": 1, "computing time of 1.5 s [s]": 411.0,
    "final quaternion (w, x, y, z)": "top turned to the bottom about y, slight rotation about x",
}  # fmt: skip
WHERE = {
    **dict.fromkeys(PRINTED_VALUES, "5.3, text to Figure 5.5"),
    **dict.fromkeys(("first contact [s]", "at rest from [s]"), "5.3, text to Figure 5.3"),
    **dict.fromkeys(("most Newton steps in a step", "Newton steps at rest"), "5.3, text to Figure 5.6"),
    "final quaternion (w, x, y, z)": "5.3, text to Figure 5.4",
    "computing time of 1.5 s [s]": "5.3, in Matlab on a Sun Ultra 2 at 200 MHz",
}


@dataclass
class Drop:
    """What happened, step by step: X (steps, 7), modes (steps, 8) in W's order of vertices, Newton steps (steps,)."""

    h: float
    X: np.ndarray
    modes: np.ndarray
    iterations: np.ndarray

    @property
    def time(self) -> np.ndarray:
        """End of each step [s]."""
        return self.h * (1.0 + np.arange(len(self.X)))

    def first_contact(self) -> list[float | None]:
        """When each vertex first touches [s], None if never."""
        touched = self.modes != NO_CONTACT
        return [float(self.time[each.argmax()]) if each.any() else None for each in touched.T]

    def sticks_from(self) -> float:
        """When vertices 5 to 8 begin to stick for good [s]."""
        loose = np.flatnonzero(~(self.modes[:, 4:] == STICKING).all(axis=1))
        return float(self.time[loose[-1]] + self.h)

    def rests_from(self) -> float:
        """When the centre of mass moves slower than AT_REST for good [s]."""
        speed = np.linalg.norm(np.diff(self.X[:, :3], axis=0), axis=1) / self.h
        return float(self.time[np.flatnonzero(speed > AT_REST)[-1] + 1] + self.h)


def drop(h: float = STEP, duration: float = DURATION, friction: float = FRICTION) -> Drop:
    """Throw the box; at W's step and for his 1.5 s unless told otherwise."""
    model = document_robot("box")
    points = contact_points(model)
    order = [int(np.abs(points.geometry[:, :3] - vertex).sum(axis=1).argmin()) for vertex in VERTICES]
    settings = model.sidecar.contact if model.sidecar is not None else None
    assert settings is not None
    settings = replace(settings, friction_static=friction, friction_dynamic=friction)
    law = derive_parameters(model.mass, len(points), settings, support_points=4)
    box = QuaternionVariational(model, h, points=points, contact=law, guess="current", absolute=TOLERANCE)
    turn = np.array(TURN) / np.linalg.norm(TURN)
    velocity = quaternion.to_matrix(turn).T @ VELOCITY
    box.reset([*START, *quaternion.to_ros(turn)], [*velocity, 0.0, 0.0, 0.0])
    X, modes, iterations = [], [], []
    for _ in range(round(duration / h)):
        box.step()
        X.append(box.X[0].copy())
        modes.append(box.contacts.modes[order])
        iterations.append(box.iterations)
    return Drop(h, np.array(X), np.array(modes), np.array(iterations))


def run(progress: Progress, *, h: float = STEP, duration: float = DURATION, friction: float = FRICTION) -> Outcome:
    """The box at W's step."""
    progress(0.0, f"{duration:g} s at h = {1e3 * h:g} ms")
    box = drop(h, duration, friction)
    spent = cpu_seconds(lambda: drop(h, duration, friction), 3)
    first = box.first_contact()
    touching = [when for when in first if when is not None]
    q = box.X[-1, 3:] * np.sign(box.X[-1, 5])
    metrics: dict[str, object] = {
        "first contact [s]": min(touching),
        "first vertex to touch": first.index(min(touching)) + 1,
        "vertices that never touch": [k + 1 for k, when in enumerate(first) if when is None],
        "at rest from [s]": box.rests_from(),
        "vertices 5 to 8 stick from [s]": box.sticks_from(),
        "final modes of vertices 1 to 8": [ContactMode(int(mode)).words for mode in box.modes[-1]],
        "final quaternion (w, x, y, z)": q,
        "most Newton steps in a step": int(box.iterations.max()),
        "time of the most Newton steps [s]": float(box.time[box.iterations.argmax()]),
        "Newton steps at rest": int(box.iterations[-50:].max()),
        "final place of the centre of mass [m]": box.X[-1, :3],
        "vertices that stick in the end": [k + 1 for k, mode in enumerate(box.modes[-1]) if mode == STICKING],
        f"computing time of {duration:g} s [s]": spent,
    }
    notes = [
        "Inertia and friction are not printed: a uniform box, μ_d = 0.40. μ_s ≥ 0.40 plays no part, no vertex that "
        "sticks ever slides again.",
        "W (5.9) turns a body wrench with the identity where its force must be in world axes; taken literally the box "
        "ends at x = −16.6 m and never rests.",
        "Whether a vertex touches is decided in the middle of the step, within the iteration.",
        f"At rest: the centre of mass is slower than {AT_REST:g} m/s. The most Newton steps are at the second sliding "
        "of vertex 1; the text says the initial sliding.",
        "The computing time is the CPU time of one thread, the median of three runs.",
    ]
    parameters = {
        "mass [kg]": MASS, "size [m]": SIZE, "k [N/m]": STIFFNESS, "b [N s/m]": DAMPING, "friction": friction,
        "zvt [m/s]": SLOWEST, "h [s]": h, "duration [s]": duration, MACHINE: this_machine(),
        "start [m]": START, "velocity [m/s]": VELOCITY, "quaternion": TURN,
    }  # fmt: skip
    progress(1.0, "done")
    is_w = (h, duration, friction) == (STEP, DURATION, FRICTION)
    printed, where = (PRINTED_VALUES, WHERE) if is_w else ({}, {})
    return Outcome(parameters, metrics, printed, notes, {"motion": _motion(box), "modes": _modes(box)}, where)


def _motion(box: Drop) -> Figure:
    figure, axes = panels(
        3, title="Figures 5.3, 5.4 and 5.6: centre of mass, orientation, Newton steps", sharex=True, size=(11.0, 9.0)
    )
    for k, name in enumerate("xyz"):
        axes[0, 0].plot(box.time, box.X[:, k], label=name)
    for k, name in enumerate(("q_w", "q_x", "q_y", "q_z")):
        axes[1, 0].plot(box.time, box.X[:, 3 + k], label=name)
    axes[2, 0].step(box.time, box.iterations, where="mid", linewidth=1.0)
    for axis in axes[:, 0]:
        axis.axvline(0.102, **PRINTED)
        axis.axvline(1.3, **PRINTED)
    axes[2, 0].set_yticks(range(0, int(box.iterations.max()) + 1, 1 + int(box.iterations.max()) // 8))
    beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    label(axes[0, 0], "", "centre of mass [m]", **beside)
    label(axes[1, 0], "", "quaternion", **beside)
    label(axes[2, 0], "time [s] (dashed: first contact and rest as printed)", "Newton steps")
    return figure


def _modes(box: Drop) -> Figure:
    figure, axes = panels(
        4, 2, title="Figure 5.5: contact modes of the eight vertices", sharex=True, sharey=True, size=(14.0, 8.6)
    )
    for vertex, axis in enumerate(axes.T.ravel()):
        axis.step(box.time, box.modes[:, vertex], where="mid", linewidth=1.2)
        axis.set_title(f"vertex {vertex + 1}", loc="left")
        axis.set_yticks(range(1, 7), [mode.words for mode in ContactMode], fontsize=9.0)
        axis.set_ylim(0.6, 6.4)
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    return figure
