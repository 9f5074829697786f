# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What one update of the balance controller works on, in named groups.

Sizes: nb bodies, nq and nv of the model, nf feet, np points of their soles.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class LeggedRobot(NamedTuple):
    """The robot and which of its bodies are what, unchanging."""

    ints: Any  # (nb, INT_COLUMNS) of the model
    floats: Any  # (nb, FLOAT_COLUMNS)
    roles: Any  # (nb,) workspace_dynamics_kernel: CENTRAL, IGNORED, …
    central: int  # index of the central body
    feet: Any  # (nf,) bodies
    owner: Any  # (np,) which foot a point of a sole belongs to
    heavy: Any  # (nb, 6) moments of inertia of the central body, in each foot's axes
    leg_lengths: Any  # (nf,) [m] from hip to foot when straight
    effort_limits: Any  # (nv,)


class BalanceLaw(NamedTuple):
    """Parameters of the controller, which `configure` changes."""

    sole_points: Any  # (np, 3) in the feet's frames
    gains: Any  # (12,) kp and kv of position and orientation
    settings: Any  # (SETTINGS_SIZE,) columns named in balance_kernel
    use_cones: bool


class BalanceMemory(NamedTuple):
    """What is kept from update to update."""

    foot_stands: Any  # (nf,)
    held_at: Any  # (nq,) where joints that carry no foot are held
    y: Any  # (6,) where the search within the cones begins
    facts: Any  # (FACTS_SIZE,) columns named in balance_kernel


class BalanceWork(NamedTuple):
    """Memory without meaning between updates."""

    trig: Any
    rows: Any
    more: Any  # (nb + 1, MORE_COLUMNS)
    dofs: Any
    constraints: Any  # (nb + 1, 6, 7)
    counts: Any  # (nb + 1,)
    stands: Any  # (nb,) whether the way to a standing foot leads over a body
    held: Any  # (nv,) accelerations of held joints
    no_effort: Any  # (nv,)
    foot_centres: Any  # (nf, 3) from the central body's centre of mass
    points: Any  # (np, 3) of the soles, from there
    H: Any  # (6, 6)
    A: Any  # (EDGES np, 8)
    best: Any  # (6,)


class BalanceResult(NamedTuple):
    """What an update writes."""

    wrenches: Any  # (nf, 6) what the ground should give each foot
    report: Any  # (REPORT_SIZE,) columns named in desired_wrench_kernel
    tau: Any  # (nv,)
