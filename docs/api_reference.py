# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The reference of the Python interface, written from the docstrings when the site is built (docs/conf.py)."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

# Heading → module, and the names of it that are documented; no names: those of its __all__.
PARTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Simulation", "mbsim_ros", ("Simulation", "Ensemble", "SimulationDiverged", "UnsupportedModel")),
    ("Recordings, ledger, snapshots", "mbsim_ros.sim", ("Recorder", "Recording", "Ledger", "Energy", "Snapshot")),
    ("Looking at it", "mbsim_ros", ("Camera", "Viewer")),
    ("Robots", "mbsim_ros", ("load_urdf", "load_world", "Model", "ModelBuilder", "UrdfError", "SidecarError")),
    ("Dynamics", "mbsim_ros.dynamics", ()),
    ("From a Lagrangian", "mbsim_ros", ("variational_integrator",)),
    ("Its integrator", "mbsim_ros.lagrangian.integrator", ("LagrangianIntegrator",)),
    ("Its states", "mbsim_ros.lagrangian.motion", ("LagrangianState", "LagrangianMotion")),
    ("Ground", "mbsim_ros.contact.terrain", ("floor", "inclined_plane", "height_field")),
    ("Controllers", "mbsim_ros.control", ()),
    ("Parameters of controllers", "mbsim_ros.control.parameters", ("ValidatedParameters", "parameter")),
    ("Bags", "mbsim_ros.bags.bag_reader", ("BagReader", "BagMessage", "BagTopic")),
    ("Writing bags", "mbsim_ros.bags.bag_writer", ("BagWriter",)),
)


def reference() -> str:
    """All parts, as Markdown for MyST with Sphinx's Python directives, which its search and index know."""
    return "\n".join(line for heading, module, names in PARTS for line in _part(heading, module, names))


def _part(heading: str, module_name: str, names: tuple[str, ...]) -> Iterator[str]:
    module = importlib.import_module(module_name)
    yield from (f"\n## {heading}\n", f"```{{py:currentmodule}} {module_name}\n```\n")
    for name in names or module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value):
            yield from _class(name, value)
        elif callable(value):
            yield from _fenced("py:function", f"{name}{_signature(value)}", _prose(value))


def _class(name: str, given: type) -> Iterator[str]:
    kind = "py:exception" if issubclass(given, BaseException) else "py:class"
    members: list[str] = []
    for member, value in _members(given):
        if isinstance(value, property):
            members += _fenced("py:property", member, _prose(value))
        else:
            members += _fenced("py:method", f"{member}{_signature(value)}", _prose(value))
    signature = "" if kind == "py:exception" else _signature(given)
    yield from _fenced(kind, f"{name}{signature}", [*_prose(given), *members], fence="````")


def _members(given: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties of ours, with a docstring, in the order of their names."""
    for name in sorted(dir(given)):
        value = inspect.getattr_static(given, name)
        value = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        is_shown = isinstance(value, property) or inspect.isfunction(value)
        if is_shown and not name.startswith("_") and value.__doc__ and not name.startswith("q_to_"):
            yield name, value


def _signature(given: Any) -> str:
    """Names and defaults, without types: those stand in the sources, and a reader wants the names."""
    try:
        signature = inspect.signature(given)
    except (TypeError, ValueError):
        return "()"
    plain = [_plain(each) for each in signature.parameters.values() if each.name != "self"]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    default = parameter.default if parameter.default is parameter.empty else _Shown(parameter.default)
    return parameter.replace(annotation=parameter.empty, default=default)


class _Shown:
    """A default as it is written, in as many words as a signature bears."""

    def __init__(self, value: Any):
        text = repr(value)
        self._text = text if len(text) <= 40 and "<" not in text else "…"

    def __repr__(self) -> str:
        return self._text


def _prose(given: Any) -> list[str]:
    """The docstring as Markdown: lines `name: what it is` become a list, and no sign means anything else."""
    lines: list[str] = []
    for line in (inspect.getdoc(given) or "").splitlines():
        begins = re.match(r"([a-z_][\w, ]*): ", line)
        escaped = re.sub(r"(?<!\\)([*_<\[\]|#~$])", r"\\\1", line) if "`" not in line else _outside_code(line)
        if begins and not line.startswith(" "):
            if lines and lines[-1] and not lines[-1].startswith("- "):
                lines.append("")
            lines.append(f"- {escaped}")
        else:
            lines.append(escaped.strip() if not lines or not lines[-1].startswith("- ") else f"  {escaped.strip()}")
    return lines


def _outside_code(line: str) -> str:
    pieces = re.split(r"(`[^`]*`)", line)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_<\[\]|#~$])", r"\\\1", piece) for piece in pieces)


def _fenced(directive: str, argument: str, content: list[str], fence: str = "```") -> list[str]:
    return [f"{fence}{{{directive}}} {argument}", "", *content, fence, ""]
