# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which laws there are along the normal of a contact: every file of contact/laws.

A new law is a new file there with SUMMARY, the kernels `normal_force`, `spring_work` and `spring_energy`, and
PARAMETERS, if it has numbers of its own; nothing else has to know of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from mbsim_ros.contact.law_kernel import DEFAULT_LAW, LAWS
from mbsim_ros.contact.layout import MAX_LAW_PARAMETERS
from mbsim_ros.model.problems import did_you_mean

__all__ = ["DEFAULT_LAW", "LAWS", "SCHEME_LAWS", "law_names", "law_number", "law_parameters", "law_summary"]

# Laws that a scheme has in kernels of its own, and takes no other: no kernel knows them by a number.
SCHEME_LAWS = {"wendlandt": "W section 5.2 as printed: anchors, modes that change the force at the ends of steps"}


def law_names() -> tuple[str, ...]:
    """Names that `contact: {law: …}` takes."""
    return (*LAWS, *SCHEME_LAWS)


def law_summary(name: str) -> str:
    """A law in half a line."""
    return SCHEME_LAWS[name] if name in SCHEME_LAWS else str(LAWS[name].SUMMARY)


def law_number(name: object) -> int:
    """The number by which kernels know a law, 0 for a scheme's own; ValueError with those that there are."""
    if not isinstance(name, str) or name not in law_names():
        hint = did_you_mean(str(name), law_names(), f"there are {', '.join(law_names())}", 0)
        raise ValueError(f"contact law: no law named {name!r:.80}: {hint}")
    return 0 if name in SCHEME_LAWS else list(LAWS).index(name)


def law_parameters(name: str, given: Mapping[str, float]) -> tuple[float, ...]:
    """The numbers of a law's own, in its order, those that are not given by default."""
    law_number(name)
    own: dict[str, float] = getattr(LAWS.get(name), "PARAMETERS", {})
    if len(own) > MAX_LAW_PARAMETERS:
        raise ValueError(f"contact law '{name}': {len(own)} parameters, at most {MAX_LAW_PARAMETERS} have room")
    for key, value in given.items():
        if key not in own:
            has = f"it has {', '.join(own)}" if own else "it has none"
            raise ValueError(f"contact law '{name}': no parameter named {key!r:.80}: {did_you_mean(key, own, has, 0)}")
        if not 0.0 <= value < float("inf"):
            raise ValueError(f"contact law '{name}': {key}: expected a finite number ≥ 0, got {value}")
    return tuple(float(given.get(key, value)) for key, value in own.items())
