# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What came of a case: a right result, a documented refusal, or a defect."""

from __future__ import annotations

import linecache
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import mbsim_ros
from mbsim_ros.integrators.errors import SimulationDiverged
from mbsim_ros.sim.simulation import Simulation

PACKAGE = Path(mbsim_ros.__file__).parent
ACCEPTED, REFUSED, FAILED = "accepted", "refused", "failed"


class Case(NamedTuple):
    """What is put in, for who looks at it, and what is done with it."""

    given: str
    run: Callable[[], None]


class Verdict(NamedTuple):
    """One of the three, and for a defect what was seen."""

    kind: str
    text: str = ""


class NotFinite(AssertionError):
    """A number came out that is none."""


def judged(run: Callable[[], None]) -> Verdict:
    """Run a case. An error is documented if it is one of this package, or what it raises on purpose."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            run()
    except Exception as error:
        if is_documented(error):
            return Verdict(REFUSED, f"{type(error).__name__}: {error}")
        return Verdict(FAILED, "".join(traceback.format_exception(error)))
    return Verdict(ACCEPTED)


def is_documented(error: Exception) -> bool:
    """Whether docs/errors.md speaks of such an error."""
    if isinstance(error, NotFinite):
        return False
    if type(error).__module__.startswith("mbsim_ros."):
        return True
    return isinstance(error, (ValueError, KeyError)) and _is_raised_here(error)


def refuse_not_finite(what: str, *values: object) -> None:
    """Raise NotFinite for a NaN or an infinity that the package gave out."""
    for value in values:
        if not np.isfinite(np.asarray(value, dtype=float)).all():
            raise NotFinite(f"{what}: {np.asarray(value).ravel()[:20]}")


def refuse_bad_motion(sim: Simulation) -> None:
    """Go on for two steps, or refuse to: the state is of finite numbers either way."""
    try:
        sim.advance(2)
    except SimulationDiverged:
        pass
    refuse_not_finite("q", sim.q)
    refuse_not_finite("v", sim.v)


def _is_raised_here(error: Exception) -> bool:
    """Whether a line of this package raises it, and not a library that it has handed something to."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    file = trace.tb_frame.f_code.co_filename
    return Path(file).is_relative_to(PACKAGE) and linecache.getline(file, trace.tb_lineno).lstrip().startswith("raise")
