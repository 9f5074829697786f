# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""H's three simulations in `Simulation`, from the files of their launch file, held by the controller of users.

The equations of body.py, hopping.py and coupled.py are their check: as the step goes to zero both are the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from matplotlib.figure import Figure

from mbsim_ros.control.command import Command
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.control.viscoelastic.controller import ViscoelasticController, ViscoelasticParameters
from mbsim_ros.control.viscoelastic.held_body import HeldBody
from mbsim_ros.control.viscoelastic.law import angles_of
from mbsim_ros.experiments.figures import PRINTED, label, panels
from mbsim_ros.experiments.hemami.parameters import GRAVITY
from mbsim_ros.experiments.robots import document_robot
from mbsim_ros.lie import quaternion
from mbsim_ros.model.catalogue import ready_robot
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import UrdfWarning
from mbsim_ros.sim.simulation import Simulation

STEPS = (4e-3, 2e-3, 1e-3, 5e-4)  # s, each a half of the one before
SAMPLING = 0.02  # s between two instants that are compared


@dataclass(frozen=True)
class Followed:
    """Times (n,), states (n, bodies, 18) as H has them, v (n,) at every step."""

    t: np.ndarray = field(repr=False)
    z: np.ndarray = field(repr=False)
    v: np.ndarray = field(repr=False)

    @property
    def increase(self) -> float:
        """The sum of all increases of v from one step to the next [J]."""
        return float(np.maximum(np.diff(self.v), 0.0).sum())


def simulation_1(h: float, duration: float) -> Followed:
    """The body of 4.1 after its kick, V0 = 0."""
    model = document_robot("body_on_point")
    sim = Simulation(model, h, gravity=GRAVITY, terrain=False)
    return followed(sim, controller_of(model, "body_on_point"), duration)


def simulation_2(h: float, duration: float) -> Followed:
    """The body of 4.2, pressed down and let go."""
    model = hopping_robot()
    return followed(Simulation(model, h, gravity=GRAVITY), controller_of(model, "hopping_body"), duration)


def simulation_3(h: float, duration: float) -> Followed:
    """The two bodies of 4.3; the controller has their coupling."""
    model = document_robot("coupled_bodies")
    sim = Simulation(model, h, gravity=(0.0, 0.0, 0.0), springs=())
    return followed(sim, controller_of(model, "coupled_bodies"), duration)


def followed(sim: Simulation, controller: ViscoelasticController, duration: float) -> Followed:
    """Run a simulation from its start."""
    times: list[float] = []
    states: list[np.ndarray] = []
    values: list[float] = []

    def note(t: float, state: RobotState) -> Command:
        command = controller.update(t, state)
        assert controller.lyapunov is not None
        times.append(t)
        states.append(np.array([_hemami_state(sim, body) for body in controller.bodies]))
        values.append(controller.lyapunov)
        return command

    class Noting:
        update = staticmethod(note)

    sim.run(duration, controller=Noting(), progress=False)
    note(sim.seconds, sim.state())
    return Followed(np.array(times), np.array(states), np.array(values))


def _hemami_state(sim: Simulation, body: HeldBody) -> np.ndarray:
    """Z (18,) of H for a body that floats, whose origin is its centre of mass; X from where it is held."""
    k = sim.model.frame(body.link).body
    q, v = sim.q[7 * k : 7 * k + 7], sim.v[6 * k : 6 * k + 6]
    A = np.asarray(quaternion.to_matrix(quaternion.from_ros(q[3:])))
    assert body.place is not None
    X = q[:3] - body.place + (body.sagging[0] if body.held.carries_weight else 0.0)
    return np.concatenate([X, A @ v[:3], body.D, angles_of(A), v[3:], body.Phi])


@dataclass(frozen=True)
class AgainstEquations:
    """Runs at several steps against the equations: the largest difference of each from them, and the runs."""

    steps: tuple[float, ...]
    runs: tuple[Followed, ...] = field(repr=False)
    errors: tuple[float, ...]

    @property
    def order(self) -> float:
        """The power of the step that the differences go with, by least squares in their logarithms."""
        return float(np.polyfit(np.log(self.steps), np.log(self.errors), 1)[0])

    def metrics(self, what: str) -> dict[str, object]:
        """For an experiment; what: the entries that were compared, with their unit."""
        in_ms = ", ".join(f"{1e3 * h:g}" for h in self.steps)
        return {
            f"Simulation: largest difference from the equations, {what}, at steps of {in_ms} ms": list(self.errors),
            "Simulation: power of the step that it goes with": self.order,
            f"Simulation: sum of all increases of v at steps of {in_ms} ms [J]": [run.increase for run in self.runs],
        }


def check(
    run: Callable[[float, float], Followed], exact: np.ndarray, entries: Sequence[int], steps: Sequence[float] = STEPS
) -> AgainstEquations:
    """Compare runs with exact states (n, bodies · 18) at the times of `sampled`; entries: which of the states."""
    duration = (len(exact) - 1) * SAMPLING
    runs = tuple(run(h, duration) for h in steps)
    errors = []
    for h, found in zip(steps, runs, strict=True):
        z = found.z[:: round(SAMPLING / h)]
        errors.append(float(np.abs(z.reshape(len(z), -1) - exact)[:, list(entries)].max()))
    return AgainstEquations(tuple(steps), runs, tuple(errors))


def figure(title: str, what: str, checked: AgainstEquations, times: np.ndarray, v: np.ndarray) -> Figure:
    """Differences over the step, and v of the runs beside v (n,) of the equations at times (n,)."""
    drawn, axes = panels(1, 2, title=title, size=(13.0, 5.0))
    steps = np.array(checked.steps)
    axes[0, 0].loglog(1e3 * steps, checked.errors, "o-", label="Simulation")
    axes[0, 0].loglog(1e3 * steps, checked.errors[-1] * steps / steps[-1], **PRINTED, label="first order")
    axes[0, 0].set_xticks(1e3 * steps, [f"{1e3 * h:g}" for h in checked.steps])
    axes[0, 0].minorticks_off()
    label(axes[0, 0], "step [ms]", what, loc="upper left")
    for h, run in zip(checked.steps, checked.runs, strict=True):
        axes[0, 1].plot(run.t, run.v, linewidth=1.2, label=f"Simulation, {1e3 * h:g} ms")
    axes[0, 1].plot(times, v, **PRINTED, label="the equations")
    axes[0, 1].set_xlim(0.0, checked.runs[0].t[-1])
    label(axes[0, 1], "time [s]", "v [J]", loc="upper right")
    return drawn


def sampled(duration: float) -> np.ndarray:
    """The times that are compared."""
    return np.linspace(0.0, duration, round(duration / SAMPLING) + 1)


def controller_of(model: Model, name: str) -> ViscoelasticController:
    """The controller with the parameter file of the launch file."""
    given = yaml.safe_load((_config() / f"{name}_controller.yaml").read_text())["/**"]["ros__parameters"]
    given.pop("whole_state", None)  # of the node
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    return ViscoelasticController(model, ViscoelasticParameters(**values))


@cache
def hopping_robot() -> Model:
    """The body of 4.2."""
    file = _config().parent / "urdf" / "hopping_body.urdf.xacro"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        return load_urdf(str(file), sidecar=_config() / "hopping_body.mbsim.yaml")


def _config() -> Path:
    sidecar = ready_robot("body_on_point").sidecar
    assert sidecar is not None
    return sidecar.parent
