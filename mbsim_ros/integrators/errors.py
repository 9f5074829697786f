# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What can go wrong with an integration."""

from __future__ import annotations


class UnsupportedModel(ValueError):
    """A model that an integrator does not cover; the text says what it would take."""


class SimulationDiverged(RuntimeError):
    """A step that could not be taken. The state is the last good one.

    Where the integrator knows them: `began`, the time [s] since which steps have been hard to solve; `joint`, which
    turns furthest in a step; `proposed_dt` [s], a step that would do.
    """

    began: float | None = None
    joint: str | None = None
    proposed_dt: float | None = None
