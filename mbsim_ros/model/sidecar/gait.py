# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Reading `gait`, what a walker's motors are for, and `clutch_rules`, what a clutch manager refuses."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from mbsim_ros.model.problems import did_you_mean, shortened
from mbsim_ros.model.sidecar.name_patterns import BadPattern, matching
from mbsim_ros.model.sidecar.names import SidecarNames
from mbsim_ros.model.sidecar.nodes import NodeReader, is_empty
from mbsim_ros.model.sidecar.settings import ClutchRules, Coupling, FrameMotors, GaitSettings, StandingGroup

Found = dict[str, tuple[yaml.Node, yaml.Node]]


def read_gait(reader: NodeReader, node: yaml.Node, couplings: Mapping[str, Coupling]) -> GaitSettings | None:
    """Read `gait`; None if it is not complete. Motors are those of the coupling that it names."""
    found = reader.entries(node, ("coupling", "waist", "frames"))
    if is_empty(node) or not _has(reader, node, found, ("waist", "frames")):
        return None
    coupling = reader.text(found["coupling"][1]) if "coupling" in found else "normal"
    if coupling is None or coupling not in couplings:
        hint = did_you_mean(str(coupling), couplings, "list it under couplings", len(reader.problems))
        reader.error(found["coupling"][1] if "coupling" in found else node, "unknown coupling", f"'{coupling}'", hint)
        return None
    motors = couplings[coupling].motors
    waist = _motor(reader, found["waist"][1], motors)
    frames = {}
    for name, (_, value) in reader.entries(found["frames"][1]).items():
        here = reader.within("gait", name)
        of_frame = here.entries(value, ("femurs", "shins"))
        if _has(here, value, of_frame, ("femurs", "shins")):
            femurs, shins = (_motor(here, of_frame[key][1], motors) for key in ("femurs", "shins"))
            if femurs is not None and shins is not None:
                frames[name] = FrameMotors(femurs, shins)
    return None if waist is None else GaitSettings(waist, frames, coupling)


def read_clutch_rules(
    reader: NodeReader, node: yaml.Node, couplings: Mapping[str, Coupling], names: SidecarNames
) -> ClutchRules:
    """Read `clutch_rules`."""
    found = reader.entries(node, ("reserved", "kept", "standing", "because"))
    reserved: dict[str, str] = {}
    for key, value in (reader.entries(found["reserved"][1]) if "reserved" in found else {}).values():
        reason = reader.text(value)
        for name in _meant_couplings(reader, key, couplings, names):
            reserved[name] = reason or ""
    kept: dict[str, str] = {}
    for key, value in (reader.entries(found["kept"][1]) if "kept" in found else {}).values():
        reason = reader.text(value)
        kept.update(dict.fromkeys(names.meant_joints(reader, key).names, reason or ""))
    standing = {}
    for name, (_, value) in (reader.entries(found["standing"][1]) if "standing" in found else {}).items():
        here = reader.within("clutch_rules", name)
        group = here.entries(value, ("feet", "carrying"))
        if not _has(here, value, group, ("feet", "carrying")):
            continue
        feet = [link for item in here.items(group["feet"][1]) for link in names.meant_links(here, item)]
        carrying = here.number(group["carrying"][1], "carrying", least=1.0)
        if carrying is not None:
            if carrying != int(carrying) or (feet and carrying > len(feet)):
                here.error(group["carrying"][1], "not a number of its feet", f"{carrying:g}", f"write 1 to {len(feet)}")
            standing[name] = StandingGroup(tuple(dict.fromkeys(feet)), int(carrying))
    because = reader.text(found["because"][1]) if "because" in found else ""
    return ClutchRules(reserved, kept, standing, because or "")


def _has(reader: NodeReader, node: yaml.Node, found: Found, keys: tuple[str, ...]) -> bool:
    missing = [key for key in keys if key not in found]
    for key in missing:
        reader.error(node, "missing key", f"'{key}'", f"add {key}")
    return not missing


def _motor(reader: NodeReader, node: yaml.Node, motors: Mapping[str, object]) -> str | None:
    name = reader.text(node)
    if name is not None and name not in motors:
        hint = did_you_mean(name, motors, f"there are {', '.join(motors) or 'none'}", len(reader.problems))
        reader.error(node, "unknown motor", f"'{shortened(name)}'", hint)
        return None
    return name


def _meant_couplings(
    reader: NodeReader, node: yaml.Node, couplings: Mapping[str, Coupling], names: SidecarNames
) -> list[str]:
    """Couplings by name, or by a pattern that is no name."""
    text = reader.text(node)
    if text is None or names.robot is None:
        return [] if text is None else [text]
    if text in couplings:
        return [text]
    names.count_tries(reader, node, len(couplings))
    try:
        found = matching(text, couplings)
    except BadPattern as reason:
        reader.error(node, "not a usable pattern", f"'{shortened(text)}'", str(reason))
        return []
    if not found:
        hint = did_you_mean(text, couplings, "see couplings", len(reader.problems))
        reader.error(node, "unknown coupling", f"'{shortened(text)}'", hint)
    return found
