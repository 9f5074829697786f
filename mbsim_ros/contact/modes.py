# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The six modes of a contact point, W section 5.2 and figure 5.1.

Three are steady: a step begins in one of them. The other three are entered only at the end of a step and say how the
point left a steady mode; the next step begins in the steady mode that follows.
"""

from enum import IntEnum

# W's numbers; plain integers, because kernels read them.
NO_CONTACT, SLIDING, SLIDING_TO_STICKING, STICKING, STICKING_TO_SLIDING, NEGATIVE_NORMAL_FORCE = range(1, 7)


class ContactMode(IntEnum):
    """Mode of a contact point, numbered and named as W does."""

    NO_CONTACT = NO_CONTACT
    """W's state 1: the point is above the ground; no force."""

    SLIDING = SLIDING
    """W's state 2: the point is in the ground; the tangential force is bounded by the dynamic friction."""

    SLIDING_TO_STICKING = SLIDING_TO_STICKING
    """W's state 3: its speed fell to the threshold; the next step begins in STICKING."""

    STICKING = STICKING
    """W's state 4: a tangential spring and damper hold it, up to the static friction."""

    STICKING_TO_SLIDING = STICKING_TO_SLIDING
    """W's state 5: the force reached the static friction and was clipped; the next step begins in SLIDING."""

    NEGATIVE_NORMAL_FORCE = NEGATIVE_NORMAL_FORCE
    """W's state 6: it leaves faster than the ground follows, so no force acts; the next step begins in SLIDING."""

    @property
    def is_steady(self) -> bool:
        """Whether a step can begin in this mode."""
        return self in (ContactMode.NO_CONTACT, ContactMode.SLIDING, ContactMode.STICKING)

    @property
    def words(self) -> str:
        """The name as W writes it, for reports."""
        return self.name.lower().replace("_", " ")
