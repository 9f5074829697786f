# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""All that the types of a kernel's arguments are, as a hash.

Numba tells two named tuples apart by their class and the types of their fields, not by the names of the fields: code
that was compiled before two fields changed places would be used after. Here a type is what all its attributes are, and
a Python class or function among them is its definition, wherever it stands.
"""

from __future__ import annotations

import enum
import hashlib
import inspect
import weakref
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import sigutils, types

from mbsim_ros.kernel_cache.sources import source_hash

_NUMBERED_BY_RUN = "_code"  # of a type: in the order in which a process meets them
_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def signature_hash(signature: Any) -> str:
    """Hash of the types that a kernel takes, and of the one that it is said to return."""
    arguments, returned = sigutils.normalize_signature(signature)
    return _hash(" ".join((*map(type_hash, arguments), _described(returned))))


@cache
def type_hash(given: types.Type) -> str:
    """Hash of all that a type is."""
    attributes = {name: value for name, value in vars(given).items() if name != _NUMBERED_BY_RUN}
    return _hash(_described(type(given)) + _described(attributes))


def _described(value: Any) -> str:
    if isinstance(value, types.Type):
        return type_hash(value)
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_described, value))})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{_described(key)}: {_described(item)}' for key, item in value.items()))}}}"
    if isinstance(value, weakref.ref):
        return _described(value())
    if isinstance(value, type):
        return _class_described(value)
    function = getattr(value, "py_func", value)  # a kernel that is handed to another
    if inspect.isfunction(function):
        return f"{function.__module__}.{function.__qualname__} {_source_of(function)}"
    return f"{_class_described(type(value))} {_described(vars(value)) if hasattr(value, '__dict__') else value!r}"


def _class_described(given: type) -> str:
    """A class: its name, and its fields, its members or its source as far as compiled code can depend on them."""
    name = f"{given.__module__}.{given.__qualname__}"
    if given.__module__.split(".")[0] in ("builtins", "numba", "numpy"):
        return name
    if issubclass(given, enum.Enum):
        return f"{name} {[(member.name, member.value) for member in given]}"
    return f"{name} {given._fields}" if hasattr(given, "_fields") else f"{name} {_source_of(given)}"


def _source_of(given: Any) -> str:
    try:
        return source_hash(Path(inspect.getfile(given)))
    except (OSError, TypeError):  # typed in, or built in
        return ""


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
