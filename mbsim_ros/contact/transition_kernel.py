# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How the mode of a contact point changes at the end of a step, W section 5.2 and figure 5.1 (norms: errata)."""

from mbsim_ros.contact.modes import (
    NEGATIVE_NORMAL_FORCE,
    NO_CONTACT,
    SLIDING,
    SLIDING_TO_STICKING,
    STICKING,
    STICKING_TO_SLIDING,
)
from mbsim_ros.jit import kernel


@kernel
def steady_mode(mode):
    """The steady mode in which the next step begins."""
    if mode == SLIDING_TO_STICKING:
        return STICKING
    if mode == STICKING_TO_SLIDING or mode == NEGATIVE_NORMAL_FORCE:  # noqa: SIM109 (slower in a kernel)
        return SLIDING
    return mode


@kernel
def next_mode(mode, depth_end, depth, fn, speed, slips, stick_speed):
    """Mode at the end of a step that began in `mode`.

    depth_end: at the end of the step; depth, fn, speed, slips: depth, normal force, ‖v_t‖ and whether the tangential
    force was clipped, as the step had them at its middle. Order of the conditions: W's priorities a, b, c.
    """
    mode = steady_mode(mode)
    if not depth_end > 0.0:
        return NO_CONTACT
    if mode == NO_CONTACT:
        return SLIDING
    if depth > 0.0 and not fn > 0.0:
        return NEGATIVE_NORMAL_FORCE
    if mode == SLIDING:
        return SLIDING_TO_STICKING if speed <= stick_speed else SLIDING
    return STICKING_TO_SLIDING if slips else STICKING
