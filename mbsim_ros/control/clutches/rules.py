# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The rules by which a request for a coupling is refused: the sidecar's `clutch_rules`, read with the robot's tree.

- `reserved`: couplings that a controller chooses by itself, and nobody by hand.
- `kept`: joints that may not become free, since something would fall.
- `standing`: groups of feet that carry the robot. A limb is what hangs on a foot, joint by joint up to where another
  limb begins. One that stands in a group is let go where its foot carries nothing, and while every group has as many
  loaded feet as it needs. It is taken back where its motors find it close to the others of its group: it keeps its
  angles to them, and far off it would never stand with them again.
"""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mbsim_ros.control.feet import foot_forces
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.coupling.configuration import CouplingConfiguration
from mbsim_ros.model.model import IV, Model
from mbsim_ros.model.sidecar.settings import ClutchRules


@dataclass(frozen=True)
class StandingLimb:
    """A foot and the joints that it hangs on, from the trunk out."""

    name: str
    group: str
    foot: str  # link
    joints: tuple[str, ...]


class CouplingRules:
    """The rules of one robot."""

    def __init__(self, model: Model, rules: ClutchRules):
        self._model, self._rules = model, rules
        self.limbs = tuple(_limbs(model, rules))
        self._limbs_of_feet = {limb.foot: limb.name for limb in self.limbs}
        self.feet = tuple(self._limbs_of_feet)  # links whose forces it has to know

    def refusal(
        self, old: CouplingConfiguration | None, new: CouplingConfiguration, state: RobotState, loaded: float,
        largest_offset: float,
    ) -> str:  # fmt: skip
        """Why `new` is refused in this state where `old` is in force, or "".

        loaded: force from which on a foot is loaded [N]; largest_offset: of a limb that is taken back [rad].
        """
        if new.name in self._rules.reserved:
            return f"'{new.name}': {self._rules.reserved[new.name]}, or force it"
        for joint, reason in self._rules.kept.items():
            if _moves_itself(joint, new) and not (old is not None and _moves_itself(joint, old)):
                return f"joint '{joint}' would be free: {reason}; lock it, drive it, or force it"
        were_free = {limb.name for limb in self.limbs if old is None or _is_free(limb, old)}
        released = sorted(limb.name for limb in self.limbs if _is_free(limb, new) and limb.name not in were_free)
        if released and old is not None:
            return self._about_release(released, foot_forces(state, self._limbs_of_feet), loaded)
        joined = [limb for limb in self.limbs if limb.name in were_free and not _is_free(limb, new)]
        return self._about_joining(joined if old is not None else [], new, state.q, largest_offset)

    def _about_release(self, released: list[str], forces: Mapping[str, float] | None, limit: float) -> str:
        names = ", ".join(released)
        if forces is None:
            return f"leg {names}: forces under the feet are not known, it may be loaded: force it, or bring contacts"
        for name in released:
            if forces.get(name, 0.0) > limit:
                return f"leg {name} is loaded with {forces[name]:.3g} N: lift it first, or force it"
        for group, needed in self._rules.standing.items():
            loaded = sum(forces.get(limb.name, 0.0) > limit for limb in self.limbs if limb.group == group)
            if loaded < needed.carrying:
                why = f", and {self._rules.because}" if self._rules.because else ""
                return (
                    f"leg {names}: frame {group} stands on {loaded} feet of the {needed.carrying} that it needs{why}: "
                    "stop first, or force it"
                )
        return ""

    def _about_joining(
        self, joined: list[StandingLimb], new: CouplingConfiguration, q: np.ndarray, largest: float
    ) -> str:
        names = {limb.name for limb in joined}
        for limb in joined:
            others = [
                other for other in self.limbs
                if other.group == limb.group and other.name not in names and not _is_free(other, new)
            ]  # fmt: skip
            own = motor_angles(self._model, limb, new, q)
            angles = [motor_angles(self._model, other, new, q) for other in others]
            for motor, (angle, joint) in own.items():
                found = [each[motor][0] for each in angles if motor in each]
                apart = angle - float(np.median(found)) if found else 0.0
                if abs(apart) > largest:
                    link = self._model.joint(joint).child_link
                    return (
                        f"leg {limb.name}: {link} is {apart:.3g} rad off where '{motor}' has those of frame "
                        f"{limb.group}, more than {largest:g}: bring it closer, or force it"
                    )
        return ""


def motor_angles(
    model: Model, limb: StandingLimb, coupling: CouplingConfiguration, q: np.ndarray
) -> dict[str, tuple[float, str]]:
    """The angle of each motor that the joints of a limb speak for at q (nq,), and the joint that does.

    They are asked from the trunk out: a joint that several motors drive, N (29), speaks for the one that is left.
    """
    found: dict[str, tuple[float, str]] = {}
    for name in limb.joints:
        joint = model.joint(name)
        row = int(model.topology[joint.body, IV])
        entries = slice(*coupling.start[row : row + 2])
        ratios = {
            coupling.column_names[column]: float(ratio)
            for column, ratio in zip(coupling.column[entries], coupling.ratio[entries], strict=True)
        }
        own = [motor for motor in ratios if motor in coupling.motors and motor not in found]
        if len(own) == 1:
            by_others = sum(ratio * found[motor][0] for motor, ratio in ratios.items() if motor in found)
            found[own[0]] = (float(q[joint.iq]) - by_others) / ratios[own[0]], name
    return found


def _is_free(limb: StandingLimb, coupling: CouplingConfiguration) -> bool:
    return any(_moves_itself(joint, coupling) for joint in limb.joints)


def _moves_itself(joint: str, coupling: CouplingConfiguration) -> bool:
    """Whether a joint is neither driven nor locked."""
    return joint in coupling.column_names and joint not in coupling.motors


def _limbs(model: Model, rules: ClutchRules) -> list[StandingLimb]:
    """The limbs of the feet in `standing`: from each foot up to the link that carries another limb, or the root."""
    above = {joint.child: joint for joint in model.description.joints}
    groups = {foot: group for group, standing in rules.standing.items() for foot in standing.feet}
    ways: dict[str, list[str]] = {}
    for foot in groups:
        way = [foot]
        while way[-1] in above:
            way.append(above[way[-1]].parent)
        ways[foot] = way
    limbs = []
    for foot, way in ways.items():
        shared = {link for other, links in ways.items() if other != foot for link in links}
        own = [link for link in way[:-1] if link not in shared]
        moving = [above[link].name for link in reversed(own) if above[link].name in model.joint_names]
        name = os.path.commonprefix([*moving, foot]).rstrip("_-/.") or foot
        limbs.append(StandingLimb(name, groups[foot], foot, tuple(moving)))
    return limbs
