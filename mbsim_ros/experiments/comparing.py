# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Values as text, and how far a computed one is from a printed one."""

from __future__ import annotations

from typing import Any

DIGITS, MOST_DIGITS = 6, 12
NEAR = 2.0  # up to this factor a difference is given in percent
CLOSE = 0.05  # of a printed value: ours is that value
MET, NEAR_IT, NOT_MET = VERDICTS = ("met", "near", "not met")
MARKS = {MET: "✓", NEAR_IT: "≈", NOT_MET: "✗", "": ""}


def text(value: object, few: int = 12, digits: int = DIGITS) -> str:
    """A value as one line; of lists longer than `few` the ends."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {text(each, few, digits)}" for key, each in value.items())
    if isinstance(value, list):
        if len(value) > few:
            return f"{text(value[0], few, digits)} … {text(value[-1], few, digits)} ({len(value)} values)"
        return ", ".join(text(each, few, digits) for each in value)
    return str(value)


def digits_beside(printed: object) -> int:
    """Digits to show of a computed value beside a printed one: one more than it has, and not fewer than usual."""
    if isinstance(printed, list):
        return max(map(digits_beside, printed), default=DIGITS)
    if not isinstance(printed, float):
        return DIGITS
    mantissa = f"{printed:.{MOST_DIGITS}g}".partition("e")[0]
    own = len(mantissa.replace(".", "").lstrip("-0"))
    return min(max(own + 1, DIGITS), MOST_DIGITS)


def deviation(computed: Any, printed: Any) -> str:
    """How far computed is from printed: percent, or the factor where that is more than two; empty without a meaning.

    For lists of equal length, that of the entry which is farthest off.
    """
    if isinstance(computed, list) and isinstance(printed, list) and len(computed) == len(printed) > 0:
        pairs = [(a, b) for a, b in zip(computed, printed, strict=True) if a != b]
        if not pairs:
            return "0"
        if not all(_comparable(a, b) for a, b in pairs):
            return ""
        worst = deviation(*max(pairs, key=lambda pair: max(pair[0] / pair[1], pair[1] / pair[0])))
        return worst if len(computed) == 1 or worst.startswith(("0", "below")) else f"up to {worst}"
    if not _comparable(computed, printed):
        return ""
    ratio = computed / printed
    if ratio >= NEAR:
        return f"× {_rounded(ratio)}"
    if ratio <= 1.0 / NEAR:
        return f"× 1/{_rounded(1.0 / ratio)}"
    percent = 100.0 * (ratio - 1.0)
    if abs(percent) < 1e-3:
        return "0" if abs(percent) < 1e-7 else "below 0.001 %"
    return f"{percent:+.2g} %".replace("-", "−")


def verdict(computed: Any, printed: Any) -> str:
    """MET if computed is printed, rounded as it is, or within 5 %; NEAR within a factor of two; else NOT_MET.

    Of lists the worst entry counts. Empty where the two cannot be compared: words, other lengths.
    """
    if isinstance(printed, list):
        if not isinstance(computed, list) or len(computed) != len(printed) or not printed:
            return ""
        each = [verdict(a, b) for a, b in zip(computed, printed, strict=True)]
        return "" if "" in each else max(each, key=VERDICTS.index)
    if isinstance(printed, bool | str) or isinstance(computed, bool | str):
        is_same = type(computed) is type(printed) and computed == printed
        return MET if is_same else NOT_MET if isinstance(printed, bool) and isinstance(computed, bool) else ""
    if not all(isinstance(value, int | float) for value in (computed, printed)):
        return ""
    off = abs(computed - printed)
    if off <= CLOSE * abs(printed) or off <= _half_of_last_digit(printed):
        return MET
    return NEAR_IT if _comparable(computed, printed) and 1.0 / NEAR <= computed / printed <= NEAR else NOT_MET


def _half_of_last_digit(printed: float) -> float:
    mantissa, _, exponent = f"{printed:.{MOST_DIGITS}g}".partition("e")
    return 0.5000001 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def _comparable(a: Any, b: Any) -> bool:
    """Are these two numbers of one sign, neither of them zero?"""
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (a, b))
    return numbers and (a > 0.0 < b or a < 0.0 > b)


def _rounded(factor: float) -> str:
    """Three digits, without a power of ten up to a million."""
    return f"{float(f'{factor:.3g}'):,.0f}" if 1e3 <= factor < 1e6 else f"{factor:.3g}"
