# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a scheme can do, as data: one row a scheme and order. Every choice and every refusal is read from these rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mbsim_ros.contact.law_registry import DEFAULT_LAW, LAWS
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.integrators.integrator import IntegrationProblem
from mbsim_ros.model.model import Model

# Feature of a row → what it is called in tables.
FEATURES = {
    "contact": "contact with the ground",
    "body_contact": "contact between bodies",
    "couplings": "couplings, clutches",
    "slipping": "clutches with a torque limit",
    "springs": "springs",
    "damping": "what takes energy",
    "drives": "gains, motors, pushes",
    "loops": "closed loops",
    "mimic": "mimic joints",
    "joint_wrenches": "wrenches of joints",
    "tolerance": "tolerance",
}


@dataclass(frozen=True)
class Capabilities:
    """A row of the table: what a scheme supports. What is not said it does not."""

    name: str  # as Simulation(integrator=…) takes it
    use: str  # when to use it, half a sentence
    order: int = 2  # what `order` of Simulation has to be: a scheme that offers several has a row for each
    contact: bool = False
    body_contact: bool = False
    couplings: bool = False
    slipping: bool = False  # brakes and clutches that slip at a torque limit
    springs: bool = False
    damping: bool = False  # damping and friction of joints, stops, springs with damping, clutches
    drives: bool = False  # position and velocity gains, motors, pushes; else only efforts of joints
    loops: bool = False
    scene_loops: bool = False  # closed loops also where there are several entities
    mimic: bool = False
    joint_wrenches: bool = False  # what each joint carried in the last step
    tolerance: bool = False  # how far its equations are solved can be chosen
    own_contact_law: str = ""  # beside those of contact/laws, and taken where nothing is said
    only: str = ""  # what robots it is for, where not for all, as tables say it
    # Why a problem is not of that kind, by joint or link; "" where it is. Called for every problem there is.
    covers: Callable[[IntegrationProblem], str] | None = field(default=None, compare=False, repr=False)

    @property
    def title(self) -> str:
        """The name, with the order where that is chosen."""
        return self.name if self.order == 2 else f"{self.name} (order={self.order})"

    @property
    def contact_laws(self) -> tuple[str, ...]:
        """Names that `contact: {law: …}` may have with it."""
        if not self.contact:
            return ()
        return (self.own_contact_law, *LAWS) if self.own_contact_law else tuple(LAWS)

    @property
    def default_contact_law(self) -> str:
        """The law that it takes where nothing is said."""
        return self.own_contact_law or DEFAULT_LAW

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that it has."""
        return tuple(feature for feature in FEATURES if getattr(self, feature))


class Need(NamedTuple):
    """Something of a problem that a scheme has to support: a feature of FEATURES, in the words of the problem."""

    feature: str
    words: str
    law: str | None = None  # of contact, where one is asked for

    def is_met_by(self, row: Capabilities) -> bool:
        """Whether a scheme supports it."""
        return bool(getattr(row, self.feature)) and (self.law is None or self.law in row.contact_laws)


def needs_of(problem: IntegrationProblem) -> list[Need]:
    """What this problem asks of a scheme."""
    scene, needs = problem.scene, []
    if scene.ground is not None and scene.points is not None:
        needs.append(Need("contact", f"contact of {len(scene.points)} points (terrain=False leaves it out)"))
        laws = () if scene.contact is None else (scene.contact, *scene.contact.links.values())
        named = dict.fromkeys(each.law for each in laws if each.law is not None)
        needs += [Need("contact", f"the contact law '{law}'", law) for law in named]
    if scene.pairs is not None:
        needs.append(Need("body_contact", "body_contact"))
    if scene.shapes is not None:
        needs.append(Need("body_contact", f"contact between {len(scene.shapes)} shapes"))
    needs += [Need("damping", f"{what} of {listed(names)}") for what, names in resisting_joints(problem.model).items()]
    if problem.stops and limited_joints(problem.model):
        needs.append(Need("damping", f"stops of {listed(limited_joints(problem.model))} (stops=False leaves them out)"))
    if scene.springs is not None:
        names = scene.springs.names
        needs.append(Need("springs", f"springs {listed(names)} (springs=() leaves them out)"))
        damped = [name for name, row in zip(names, scene.springs.constants, strict=True) if row[2] > 0.0]
        if damped:
            needs.append(Need("damping", f"springs {listed(damped)}, which have damping"))
    if scene.coupling is not None:
        needs.append(Need("couplings", f"coupling '{scene.coupling.name}'"))
        if scene.coupling.slipping:
            needs.append(Need("slipping", f"torque limits of {listed(list(scene.coupling.slipping))}"))
    closures = [] if problem.model.sidecar is None else list(problem.model.sidecar.closures)
    if closures:
        words = f"closed loops {listed(closures)}"
        needs.append(Need("scene_loops", f"{words} beside other entities") if scene.parts else Need("loops", words))
    if problem.model.mimic is not None:
        needs.append(Need("mimic", "mimic joints"))
    if problem.tolerance is not None:
        needs.append(Need("tolerance", f"tolerance={problem.tolerance!r:.80} (None leaves it to the scheme)"))
    return needs


def missing(row: Capabilities, needs: Iterable[Need]) -> list[Need]:
    """What of these needs a scheme does not have."""
    return [need for need in needs if not need.is_met_by(row)]


def obstacles(row: Capabilities, problem: IntegrationProblem, needs: Iterable[Need]) -> list[str]:
    """Everything that stands in the way of a scheme for a problem with these needs, in words."""
    found = [need.words for need in missing(row, needs)]
    why = "" if row.covers is None else row.covers(problem)
    return [f"robots other than {row.only}: {why}", *found] if why else found


def refuse_unsupported(row: Capabilities, problem: IntegrationProblem, rows: Sequence[Capabilities]) -> None:
    """Raise UnsupportedModel with everything that stands in the way, and the first scheme that has it all."""
    needs = needs_of(problem)
    ways = obstacles(row, problem, needs)
    if not ways:
        return
    other = next((each for each in rows if not obstacles(each, problem, needs)), None)
    remedy = "no integrator has all of it" if other is None else f"use '{other.name}'"
    if other is not None and other.name == row.name:
        remedy += f" of order {other.order}"
    first = next(each for each in rows if each.name == row.name)  # what the name alone stands for
    who = f"integrator '{row.name}'" if row == first else f"order={row.order}"
    raise UnsupportedModel(f"{who} does not go with {'; '.join(ways)}: {remedy}")


def limited_joints(model: Model) -> list[str]:
    """Joints that have a position limit, by name."""
    indices = {joint.name: joint.iv for joint in model.joints if joint.nv == 1 and joint.iv >= 0}
    return [name for name, iv in indices.items() if np.isfinite(model.lower[iv]) or np.isfinite(model.upper[iv])]


def resisting_joints(model: Model) -> dict[str, list[str]]:
    """Joints that have damping, and those that have friction, by name; a kind that no joint has is left out."""
    ranges = {joint.name: slice(joint.iv, joint.iv + joint.nv) for joint in model.joints if joint.iv >= 0}
    found = {
        what: [name for name, own in ranges.items() if values[own].any()]
        for what, values in (("damping", model.damping), ("friction", model.friction))
    }
    return {what: names for what, names in found.items() if names}


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
