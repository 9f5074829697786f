# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Time as whole nanoseconds: t = k · dt has no rounding, and stamps of messages are exact."""

from __future__ import annotations

import math
import operator

SECOND = 1_000_000_000  # ns
LONGEST = 2**62  # ns, and steps: what can be counted
ROUNDING = 1e-6  # of a step: what a decimal number such as 0.001 may be off a whole number of nanoseconds


def step_in_nanoseconds(dt: object, name: str = "dt") -> int:
    """A step of dt seconds in nanoseconds. Raises ValueError unless that is whole, above 0 and at most one second."""
    seconds = number(name, dt)
    if not 0.0 < seconds <= 1.0:
        raise ValueError(f"{name}: expected a step above 0 s and at most 1 s, got {dt!r}")
    exact = seconds * SECOND
    whole = round(exact)
    if whole < 1 or abs(exact - whole) > ROUNDING * exact:
        raise ValueError(
            f"{name}: expected a whole number of nanoseconds, got {exact:.9g} ns; use {max(whole, 1) / SECOND:.9g} s"
        )
    return whole


def whole_steps(name: str, seconds: object, dt_ns: int) -> int:
    """How many steps make this time [s] above 0. Raises ValueError where it is not a whole number of them."""
    span = _bounded(name, seconds)
    steps = round(span * SECOND / dt_ns)
    if steps < 1 or abs(span * SECOND - steps * dt_ns) > ROUNDING * dt_ns * max(steps, 1):
        raise ValueError(f"{name}: expected a multiple of dt = {dt_ns / SECOND:g} s, got {seconds!r}")
    return steps


def nearest_steps(name: str, seconds: object, dt_ns: int) -> int:
    """The number of steps nearest to this time [s]. Raises ValueError where it is negative."""
    span = _bounded(name, seconds)
    if span < 0.0:
        raise ValueError(f"{name}: expected a time of 0 s or more, got {seconds!r}")
    return round(span * SECOND / dt_ns)


def step_count(name: str, value: object) -> int:
    """A number of steps. Raises ValueError unless it is whole and can be counted."""
    try:
        steps = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{name}: expected a whole number of steps, got {value!r:.80}") from None
    if abs(steps) > LONGEST:
        raise ValueError(f"{name}: expected at most {LONGEST} steps, got {steps:.3g}")
    return steps


def _bounded(name: str, seconds: object) -> float:
    span = number(name, seconds)
    if abs(span) * SECOND > LONGEST:
        raise ValueError(f"{name}: expected at most {LONGEST / SECOND:.3g} s, got {seconds!r:.80}")
    return span


def number(name: str, value: object) -> float:
    """Value as a finite float."""
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}: expected a number, got {value!r:.80}") from None
    if not math.isfinite(result):
        raise ValueError(f"{name}: expected a finite number, got {value!r}")
    return result
