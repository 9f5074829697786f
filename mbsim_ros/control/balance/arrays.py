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

from typing import NamedTuple

import numpy as np


class LeggedRobot(NamedTuple):
    """The robot and which of its bodies are what, unchanging."""

    topology: np.ndarray  # (nb, INT_COLUMNS) of the model
    constants: np.ndarray  # (nb, FLOAT_COLUMNS)
    roles: np.ndarray  # (nb,) workspace_dynamics_kernel: CENTRAL, IGNORED, …
    central: int  # index of the central body
    feet: np.ndarray  # (nf,) bodies
    owner: np.ndarray  # (np,) which foot a point of a sole belongs to
    heavy: np.ndarray  # (nb, 6) moments of inertia of the central body, in each foot's axes
    leg_lengths: np.ndarray  # (nf,) [m] from hip to foot when straight
    effort_limits: np.ndarray  # (nv,)


class BalanceLaw(NamedTuple):
    """Parameters of the controller, which `configure` changes."""

    sole_points: np.ndarray  # (np, 3) in the feet's frames
    gains: np.ndarray  # (12,) kp and kv of position and orientation
    settings: np.ndarray  # (SETTINGS_SIZE,) columns named in balance_kernel
    use_cones: bool


class BalanceMemory(NamedTuple):
    """What is kept from update to update."""

    foot_stands: np.ndarray  # (nf,)
    held_at: np.ndarray  # (nq,) where joints that carry no foot are held
    y: np.ndarray  # (6,) where the search within the cones begins
    facts: np.ndarray  # (FACTS_SIZE,) columns named in balance_kernel


class BalanceWork(NamedTuple):
    """Memory without meaning between updates."""

    sincos: np.ndarray
    rows: np.ndarray
    more: np.ndarray  # (nb + 1, MORE_COLUMNS)
    dofs: np.ndarray
    constraints: np.ndarray  # (nb + 1, 6, 7)
    counts: np.ndarray  # (nb + 1,)
    stands: np.ndarray  # (nb,) whether the way to a standing foot leads over a body
    held: np.ndarray  # (nv,) accelerations of held joints
    no_effort: np.ndarray  # (nv,)
    foot_centres: np.ndarray  # (nf, 3) from the central body's centre of mass
    points: np.ndarray  # (np, 3) of the soles, from there
    H: np.ndarray  # (6, 6)
    A: np.ndarray  # (EDGES np, 8)
    best: np.ndarray  # (6,)


class BalanceResult(NamedTuple):
    """What an update writes."""

    wrenches: np.ndarray  # (nf, 6) what the ground should give each foot
    report: np.ndarray  # (REPORT_SIZE,) columns named in desired_wrench_kernel
    tau: np.ndarray  # (nv,)
