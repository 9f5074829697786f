# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Message definitions as bags store them: the text of a type with all it contains, its hash, where its stamp is.

They are read from the share folders of the installed interface packages, so that no ROS import is needed.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from mbsim_ros.launcher.errors import SubstitutionError
from mbsim_ros.launcher.packages import share_directory

ENCODING = "ros2msg"
SEPARATOR = "=" * 80
PRIMITIVES = frozenset((
    "bool", "byte", "char", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
    "uint64", "string", "wstring",
))  # fmt: skip
AT_ONCE, IN_SEQUENCE = 4, 8  # offsets: after the bytes that say how it is encoded, and after a sequence's length
TIME = "builtin_interfaces/Time"
_FIELD = re.compile(r"\s*([A-Za-z]\w*(?:/\w+)*)(<=\d+)?(\[[^\]]*\])?\s+[A-Za-z]\w*\s*(=)?")  # type, bound, array, name


class DefinitionMissing(ValueError):
    """A message type that is not installed here."""


def definition(message_type: str) -> str:
    """The text of a type such as ``sensor_msgs/msg/JointState`` and of all types inside it, as rosbag2 joins them."""
    seen: set[str] = set()

    def text_with_parts(name: str) -> str:
        text = _text(name)
        for part in sorted({kind for kind, _ in _fields(name) if kind not in PRIMITIVES}):
            if part not in seen:
                seen.add(part)
                text += f"\n{SEPARATOR}\nMSG: {part}\n{text_with_parts(part)}"
        return text

    return text_with_parts(_short(message_type))


@cache
def type_hash(message_type: str) -> str:
    """The hash by which ROS knows this version of the type (RIHS01_…); "" where the package does not say."""
    package, name = _short(message_type).split("/")
    file = _share(package, message_type) / "msg" / f"{name}.json"
    try:
        entries = json.loads(file.read_text())["type_hashes"]
    except (OSError, KeyError, ValueError):
        return ""
    wanted = f"{package}/msg/{name}"
    return next((entry["hash_string"] for entry in entries if entry["type_name"] == wanted), "")


@cache
def stamp_offset(message_type: str) -> int | None:
    """Where in the serialized message (CDR) its stamp is: that of the message, or of the first of its only sequence.

    None if it begins with neither. With IN_SEQUENCE the stamp is there only if the sequence is not empty.
    """
    name = _short(message_type)
    if _begins_with_time(name):
        return AT_ONCE
    kind, array = (*_fields(name), ("", ""))[0]
    is_sequence = array == "[]" or array.startswith("[<=")
    return IN_SEQUENCE if is_sequence and _begins_with_time(kind) else None


def _begins_with_time(name: str) -> bool:
    if name == TIME:
        return True
    fields = [] if name in PRIMITIVES else _fields(name)
    return bool(fields) and not fields[0][1] and _begins_with_time(fields[0][0])


@cache
def _fields(name: str) -> list[tuple[str, str]]:
    """Types of the fields of a message in their order, with what stands in brackets."""
    package = name.split("/")[0]
    found = []
    for line in _text(name).splitlines():
        match = _FIELD.match(line.partition("#")[0])
        if match and not match[4]:  # a constant has a value
            kind = match[1]
            full = kind if kind in PRIMITIVES or "/" in kind else f"{package}/{kind}"
            found.append((full if full in PRIMITIVES else _short(full), match[3] or ""))
    return found


@cache
def _text(name: str) -> str:
    package, message = name.split("/")
    file = _share(package, name) / "msg" / f"{message}.msg"
    try:
        return file.read_text()
    except OSError:
        raise DefinitionMissing(f"message type '{package}/msg/{message}': there is no {file}") from None


def _share(package: str, message_type: str) -> Path:
    try:
        return share_directory(package)
    except SubstitutionError as error:
        raise DefinitionMissing(f"message type '{message_type}': {error}") from None


def _short(message_type: str) -> str:
    """``package/Name`` of ``package/msg/Name``."""
    parts = message_type.split("/")
    if len(parts) == 3 and parts[1] == "msg":
        parts = [parts[0], parts[2]]
    if len(parts) != 2 or not all(part.isidentifier() for part in parts):
        raise DefinitionMissing(f"message type '{message_type}': expected package/msg/Name")
    return "/".join(parts)
