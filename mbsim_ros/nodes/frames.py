# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Names that ROS sees: TF frames and topics of links. Nothing else makes them."""

from __future__ import annotations

import re
from typing import NamedTuple

from mbsim_ros.model.model import Model


def frame_name(link: str, frame_prefix: str = "") -> str:
    """The TF frame of a link, as robot_state_publisher names it; tf2 knows no leading slash."""
    return f"{frame_prefix}{link}".lstrip("/")


class BaseFrames(NamedTuple):
    """The frames that a robot's links hang on, as REP 105 has them: world, then odom, then the root link.

    world: empty where somebody else says where odom is, as who localises does.
    odom: what a floating base moves in, at the origin of the world for good; the world itself where there is no other.
    """

    world: str
    odom: str
    root: str

    @property
    def at_rest(self) -> str:
        """The frame that positions in the world are told in."""
        return self.world or self.odom

    @property
    def still(self) -> list[tuple[str, str]]:
        """Parent and child of what never moves, and is the same place."""
        return [(self.world, self.odom)] if self.world not in ("", self.odom) else []


def base_frames(model: Model, world_frame: str, odom_frame: str, frame_prefix: str = "") -> BaseFrames:
    """The frames above a robot's links. A fixed base has no odometry: its root is where a floating one's odom is.

    odom_frame has the prefix of the robot, of which there may be several in a world. Empty, or the name of the world or
    of a link, it is no frame of its own, and the base is placed in the world. ValueError if that leaves no frame.
    """
    world, root = frame_name(world_frame), frame_name(model.description.root.name, frame_prefix)
    if not model.is_floating:
        return BaseFrames(world, root, root)
    if root == world:
        raise ValueError(f"world_frame: expected another name than the floating base's, got {world_frame!r}")
    links = {link.name for link in model.description.links}
    has_own = odom_frame not in ("", world_frame, *links)
    odom = frame_name(odom_frame, frame_prefix) if has_own else world
    if not odom:
        raise ValueError(f"odom_frame: expected a name that no link has where world_frame is empty, got {odom_frame!r}")
    return BaseFrames(world, odom, root)


def topic_name(link: str) -> str:
    """A link's name as part of a topic: letters, digits and underscores, the first no digit."""
    name = re.sub(r"\W", "_", link, flags=re.ASCII)
    return f"_{name}" if name[:1].isdigit() or not name else name
