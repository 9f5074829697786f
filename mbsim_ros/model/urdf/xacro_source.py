# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Expanding `.xacro` files with the xacro library.

A xacro file is a program: it includes other files and evaluates expressions. Expand only files you would run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.parsers.expat import ExpatError

from mbsim_ros.model.problems import Problem, UrdfError, shortened
from mbsim_ros.model.urdf.xml_source import read_xml, urdf_path

# xacro builds a new document and forgets where each element came from.
LINES_NOTE = "lines count in the output of `xacro {file}`; xacro keeps no lines of its input"


def is_xacro(path: object) -> bool:
    """Whether a path names a xacro file."""
    return isinstance(path, (str, Path)) and str(path).endswith(".xacro")


def expand_xacro(path: str | Path, mappings: Mapping[str, object] | None = None) -> str:
    """Return the URDF text of a xacro file; `mappings` are its arguments. Raises UrdfError."""
    path = urdf_path(path)
    read_xml(path)  # the same limits and refusals as for a URDF, and better messages than xacro's
    try:
        import xacro
    except ImportError:
        hint = "pip install xacro, or install ros-<distro>-xacro"
        raise UrdfError([Problem(str(path), 0, "xacro", "", "the xacro library is missing", "", hint)]) from None
    arguments = {name: str(value) for name, value in (mappings or {}).items()}
    try:
        return xacro.process_file(str(path), mappings=arguments).toprettyxml(indent="  ")
    except Exception as error:  # xacro evaluates expressions of the file: anything can come out
        raise UrdfError([_xacro_problem(error, path, xacro)]) from None


def _xacro_problem(error: Exception, path: Path, xacro: object) -> Problem:
    """Name the file that xacro was reading, and the line where it tells one."""
    files = [name for name in getattr(xacro, "filestack", None) or [] if name]
    file = str(files[-1]) if files else str(path)
    line = error.lineno if isinstance(error, ExpatError) else 0
    macros = [macro.body.getAttribute("name") for macro in getattr(xacro, "macrostack", None) or []]
    value = shortened(str(error) or repr(error), 200)
    where = f"in macro {' > '.join(macros[:5])}" if macros else ""
    if isinstance(error, RecursionError):
        value, where = "endless recursion", where or "check for a macro that calls itself"
    hint = ", ".join(part for part in (where, "" if line else "xacro gives no line") if part)
    return Problem(file, line, "xacro", "", "cannot be expanded", value, hint)
