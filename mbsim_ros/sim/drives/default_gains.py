# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Gains of joints that were never given any: stiff enough to carry the robot, as strong and as quick as its joints are.

One rule for everybody who holds a position: `Simulation.drive`, the topics of the physics node, and its holding still.

- A joint gives way by SAG under the most that it may have to carry: its effort limit, or the weight at the robot's
  whole reach where that is less or no limit is known. An arm's joint with much inertia gets RATE by that, if stiffer.
- Damping is critical for the joint's own inertia, and at least LAG kp: what stands on its feet is heavier than that.
  A drive that is cut at its limit L brakes where kd v is more than kp e, so that what comes from a deviation E with the
  acceleration L/I would pass the target and come back, over and over: from E = 2 SAG it stops with kd ≥ kp √(E I / 2L).
- The drive is solved with the step, in its middle, so no gains make it unstable. But what is stiff for a step rings:
  with a = kp dt²/4I and b = kd dt/2I the deviation from rest goes by λ in each step, (1+b+a) λ² + 2(a−1) λ + 1−b+a = 0,
  and |λ| tends to 1 with either. I is the inertia that the joint feels while all others are free. Below kp dt²/I =
  STIFFEST and kd dt/I = RINGING a deviation that turns round in every step loses a third of itself in each.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

import numpy as np

from mbsim_ros.dynamics.kinematics import forward_kinematics
from mbsim_ros.dynamics.mass_matrix import mass_matrix
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import did_you_mean
from mbsim_ros.model.sidecar.settings import Gains
from mbsim_ros.sim.initial_states import HOME, named_state
from mbsim_ros.sim.names import driven_joints

SAG = 0.05  # [rad] how far a joint gives way at most under what it may have to carry; of the reach, where it slides
RATE = 50.0  # [rad/s] of a heavy joint's own inertia on its spring
LAG = 0.02  # [s] kd / kp at least: motion dies away within a few of these
RINGING = 10.0  # kd dt / I at most
STIFFEST = 16.0  # kp dt² / I at most

_log = logging.getLogger(__name__)


class DriveGains(Mapping[str, Gains]):
    """Gains by joint or column: those given since, of the sidecar, or for other joints that are driven of the rule.

    The rule is evaluated when somebody first asks for what the sidecar does not have.
    """

    def __init__(self, model: Model, dt: float):
        """dt: step [s] of the simulation that the joints are driven in."""
        self._model, self._dt = model, dt
        self._of_sidecar: Mapping[str, Gains] = {} if model.sidecar is None else model.sidecar.gains
        self.given: Mapping[str, Gains] = self._of_sidecar
        self.changed: Mapping[str, Gains] = {}  # since the simulation was made
        self._joints = driven_joints(model).names
        self._derived: dict[str, Gains] | None = None

    def change(self, gains: Mapping[str, Gains]) -> None:
        """Other gains of joints and columns, from now on; those of drives that act already stay. ValueError if bad."""
        for name, new in gains.items():
            if name not in self:
                hint = did_you_mean(name, self, f"there are {', '.join(self)}", 0)
                raise ValueError(f"gains[{name!r}]: no such joint or motor: {hint}")
            if not (0.0 <= new.kp < np.inf and 0.0 <= new.kd < np.inf):
                raise ValueError(f"gains[{name!r}]: expected kp and kd of 0 or more, got {new.kp} and {new.kd}")
        self.changed = {**self.changed, **gains}
        self.given = {**self._of_sidecar, **self.changed}

    def saved(self) -> dict[str, list[float]]:
        """kp and kd of those that were changed, for a snapshot."""
        return {name: [own.kp, own.kd] for name, own in self.changed.items()}

    def restore(self, saved: Mapping[str, list[float]]) -> None:
        """Take back what `saved` gave."""
        before, self.changed = self.changed, {}
        try:
            self.change({name: Gains(float(kp), float(kd)) for name, (kp, kd) in saved.items()})
        except ValueError:
            self.changed = before
            raise

    @property
    def without(self) -> tuple[str, ...]:
        """The driven joints that the sidecar has no gains for."""
        return tuple(name for name in self._joints if name not in self.given)

    def __getitem__(self, name: str) -> Gains:
        if name in self.given:
            return self.given[name]
        if name not in self._joints:
            raise KeyError(name)
        if self._derived is None:
            kp, kd = gains_by_rule(self._model, self._dt)
            places = {each: self._model.joint(each).iv for each in self._joints}
            self._derived = {each: Gains(float(kp[iv]), float(kd[iv])) for each, iv in places.items()}
            _log.info(self.sentence())
        return self._derived[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*self.given, *self.without))

    def __len__(self) -> int:
        return len(self.given) + len(self.without)

    def sentence(self) -> str:
        """What the rule gave, for the log; "" where the sidecar has all."""
        names = self.without
        if not names:
            return ""
        kp, kd = np.array([(self[name].kp, self[name].kd) for name in names]).T
        who = "its joints have" if len(names) == len(self._joints) else f"{len(names)} joints have"
        return (
            f"'{self._model.name}': {who} no gains in a sidecar: by inertia and effort limits kp is "
            f"{_range(kp)}, kd {_range(kd)}"
        )


def gains_by_rule(model: Model, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """kp and kd (nv,) of the rule above for all dofs of a model, where it starts."""
    q, _ = named_state(model, HOME)
    M = mass_matrix(model, q)
    limit = np.where(model.effort_limit > 0.0, model.effort_limit, np.inf)
    inertia, load, sag = np.diag(M), *_loads(model, q, limit)
    least = _free_inertia(M)
    kp = np.minimum(np.maximum(inertia * RATE**2, load / sag), STIFFEST * least / dt**2)
    lag = np.maximum(LAG, np.sqrt(sag * inertia / limit))
    kd = np.minimum(np.maximum(2.0 * np.sqrt(kp * inertia), lag * kp), RINGING * least / dt)
    return kp, kd


def _loads(model: Model, q: np.ndarray, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each dof may have to carry (nv,) [Nm, N], and how far it may give way under that (nv,) [rad, m].

    limit: of its effort (nv,), infinite where none is known.
    """
    weight = model.mass * 9.81
    places = forward_kinematics(model, q).X_WB[:, :3, 3]
    reach = max(float(np.linalg.norm(places - places[0], axis=1).max()), 0.1)
    load, sag = np.full(model.nv, weight * reach), np.full(model.nv, SAG)
    for joint in model.joints:
        if joint.type == "prismatic" and joint.iv >= 0:
            load[joint.iv], sag[joint.iv] = weight, SAG * reach
    return np.minimum(load, limit), sag


def _free_inertia(M: np.ndarray) -> np.ndarray:
    """1 / (M⁻¹)ᵢᵢ (nv,): the inertia of a dof while all others are free, the least that it ever feels."""
    try:
        return np.asarray(1.0 / np.diag(np.linalg.inv(M)))
    except np.linalg.LinAlgError:  # a link without mass, which something else holds
        return np.diag(M)


def _range(values: np.ndarray) -> str:
    low, high = f"{values.min():.3g}", f"{values.max():.3g}"
    return low if low == high else f"{low} to {high}"
