# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Messages that no one should send: of the right type with odd contents, and bytes that are no message."""

from __future__ import annotations

import math
import re
from random import Random
from typing import Any

from rcl_interfaces.msg import Parameter, ParameterValue
from rosidl_parser.definition import AbstractNestedType, Array, BasicType, BoundedSequence, NamespacedType

DOUBLES = (0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 1e9, 1e-9, 0.1)
NAMES = (
    "", " ", "body", "AFL_f", "AFL_t", "top", "base", "normal", "hold", "turn", "no such", "é", "a" * 10_000, "/", "\n",
    "normal@0", "hold@99999999999999999999", "normal@-1", "turn soft", "hold hard force", "femur_A", "controller",
)  # fmt: skip
PARAMETERS = (
    "gravity", "friction", "coupling", "lockstep_timeout", "on_missing", "command_timeout", "on_timeout", "dt", "",
    "contact_rate", "diagnostics_period", "use_sim_time", "forward", "turn", "patience", "robot_file", "no_such",
    "cmd_vel_timeout",
)  # fmt: skip
_SIZE = re.compile(r"u?int(\d+)")


def hostile_message(kind: Any, random: Random, stamp: int = 0) -> Any:
    """A message with odd contents; its stamp is that of the present state now and then."""
    message = kind()
    for name, slot in zip(message.get_fields_and_field_types(), kind.SLOT_TYPES, strict=True):
        if random.random() < 0.8:
            setattr(message, name, _value(slot, getattr(message, name), random))
    if hasattr(message, "header") and random.random() < 0.5:
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(max(stamp, 0), 1_000_000_000)
        message.header.frame_id = random.choice(NAMES)
    if hasattr(message, "position") and hasattr(message, "name") and random.random() < 0.7:
        for part in ("position", "velocity", "effort"):  # of the right sizes
            setattr(message, part, [random.choice(DOUBLES) for _ in message.name])
    return message


def hostile_bytes(random: Random) -> bytes:
    """Bytes in place of a message."""
    head = random.choice((b"\0\1\0\0", b"\0\0\0\0", b"\xff\xff\xff\xff", b""))
    return head + random.choice((random.randbytes(random.randrange(200)), b"\xff" * 64, b"\0" * 64, b""))


def hostile_parameter(random: Random) -> Parameter:
    """A parameter with a value of any type."""
    value = ParameterValue(type=random.randrange(10))
    value.bool_value = random.random() < 0.5
    value.integer_value = random.choice((0, -1, 2**63 - 1, -(2**63)))
    value.double_value = random.choice(DOUBLES)
    value.string_value = random.choice(NAMES)
    size = random.randrange(5)
    value.double_array_value = [random.choice(DOUBLES) for _ in range(size)]
    value.string_array_value = [random.choice(NAMES) for _ in range(size)]
    value.integer_array_value = [random.choice((0, -1, 2**63 - 1)) for _ in range(size)]
    return Parameter(name=random.choice(PARAMETERS), value=value)


def _value(slot: Any, present: Any, random: Random) -> Any:
    if isinstance(slot, AbstractNestedType):
        count = slot.size if isinstance(slot, Array) else random.choice((0, 1, 2, 5, 5, 300))
        if isinstance(slot, BoundedSequence):
            count = min(count, slot.maximum_size)
        if isinstance(slot.value_type, NamespacedType):
            return present  # a list of messages: none that this package reads has one
        return [_basic(slot.value_type, random) for _ in range(count)]
    if isinstance(slot, NamespacedType):
        return hostile_message(type(present), random)
    return _basic(slot, random)


def _basic(slot: Any, random: Random) -> Any:
    if not isinstance(slot, BasicType):
        return random.choice(NAMES)
    if slot.typename in ("double", "float"):
        return random.choice(DOUBLES) if slot.typename == "double" else random.choice((0.0, math.nan, math.inf, 1.0))
    if slot.typename == "boolean":
        return random.random() < 0.5
    size = _SIZE.fullmatch(slot.typename)
    if size is None:  # an octet
        return 0
    bits, signed = int(size[1]), not slot.typename.startswith("u")
    return random.choice((0, 1, 2 ** (bits - signed) - 1, -(2 ** (bits - 1)) if signed else 7))
