# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Texts of a launch file as typed values: booleans of conditions, YAML values of parameters."""

from __future__ import annotations

import yaml

from mbsim_ros.launcher.errors import SubstitutionError

Scalar = bool | int | float | str
ParameterValue = Scalar | list

_TYPES: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool}


def parse_condition(text: str) -> bool:
    """Value of ``if`` and ``unless``: true, false, 1 or 0, in any case, blanks around ignored."""
    word = text.strip().lower()
    if word in ("true", "1"):
        return True
    if word in ("false", "0"):
        return False
    raise SubstitutionError(f"a condition is true, false, 1 or 0, not '{text}'")


def parse_bool(text: str) -> bool:
    """A boolean by YAML's rules (true, yes, on, …), or 1 and 0."""
    if text in ("0", "1"):
        return text == "1"
    value = _load(text)
    if not isinstance(value, bool):
        raise SubstitutionError(f"expected a boolean, not '{text}'")
    return value


def parse_parameter(text: str, type_name: str | None = None, keep_text: bool = False) -> ParameterValue:
    """A parameter's value: of the type asked for, or what YAML makes of the text.

    With keep_text, what is not YAML stays the text it is.
    """
    if type_name is not None:
        return _parse_typed(text, type_name)
    if not text:
        return ""
    try:
        value = _load(text)
    except SubstitutionError:
        if keep_text:
            return text
        raise
    if isinstance(value, list):
        return uniform_list(value)
    if not isinstance(value, (bool, int, float, str)):
        raise SubstitutionError(
            f"'{_short(text)}' is a YAML {type(value).__name__}, which no parameter can be; "
            'if a text is meant, add type="str"'
        )
    return value


def _parse_typed(text: str, type_name: str) -> ParameterValue:
    if type_name not in _TYPES:
        raise SubstitutionError(f"a parameter's type is one of {', '.join(_TYPES)}, not '{type_name}'")
    if type_name == "str":
        return text
    if type_name == "bool":
        return parse_bool(text)
    try:
        return int(text) if type_name == "int" else float(text)
    except ValueError:
        raise SubstitutionError(f"'{_short(text)}' is not of the type {type_name}") from None


def uniform_list(values: list) -> list:
    """The list, if a parameter can have it as its value."""
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not kinds <= {bool, int, float, str}:
        raise SubstitutionError(
            f"a list parameter has values of one type (1.0, not 1, beside 2.5), not {_short(str(values))}"
        )
    return values


def _load(text: str) -> object:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError):  # a bad date is a ValueError
        raise SubstitutionError(f"'{_short(text)}' is not YAML; if a text is meant, add type=\"str\"") from None


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"
