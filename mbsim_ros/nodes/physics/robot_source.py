# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Where the physics node gets its robot from: a parameter, a file, or the topic robot_description."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar.settings import upright
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.nodes.parameters import BadParameter
from mbsim_ros.nodes.waiting import Waiting
from mbsim_ros.sim.entities import Entities
from mbsim_ros.sim.scenes.entity_list import world_from
from mbsim_ros.sim.world import World

NO_ROBOT = "none"  # for robot_file: launch files have it where nothing is said
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Robot(NamedTuple):
    """A robot, its URDF text, and the text to publish: what every reader knows; None where it came from the topic."""

    model: Model
    text: str
    published: str | None
    world: World | None = None  # the scene that it is the forest of


def load_robot(node: Node, values: Mapping[str, Any]) -> Robot:
    """The robot that the parameters name."""
    given = [name for name in ("robot_description", "robot_file", "world") if values[name] not in ("", NO_ROBOT)]
    if len(given) > 1:
        raise BadParameter(f"{' and '.join(given)}: give one of them, got {'both' if len(given) == 2 else 'all'}")
    folders = [folder for folder in values["package_dirs"].split(os.pathsep) if folder]
    if any(values["entities"]) and given not in ([], ["world"]):
        raise BadParameter(f"{given[0]} and entities: give the robot as one of the entities, got both")
    try:
        world = world_from(values, folders)
    except ValueError as error:
        raise BadParameter(str(error)) from error
    if world is not None:
        forest = Entities(world).forest
        return Robot(forest, to_urdf(forest.description), published_text(forest), world)
    if values["robot_file"] == NO_ROBOT:
        raise BadParameter(
            "robot_file: expected a robot, a world or entities: give robot:=FILE, world:=FILE or "
            "entities:=\"['name=FILE']\", got none of them"
        )
    sidecar, base = values["sidecar"] or None, values["base"]
    if values["robot_file"]:
        arguments = xacro_arguments(values["xacro_args"])
        model = load_urdf(values["robot_file"], base, sidecar=sidecar, package_dirs=folders, xacro_args=arguments)
        return Robot(model, to_urdf(model.description), published_text(model))
    text = values["robot_description"] or from_topic(node)
    # A text has been made by another program, which has found its meshes: xacro, or who publishes the topic.
    model = load_urdf(text, base, sidecar=sidecar, package_dirs=folders, found_meshes={})
    return Robot(model, text, published_text(model) if values["robot_description"] else None)


def xacro_arguments(text: str) -> dict[str, str] | None:
    """The arguments `name:=value name:=value`, None where there are none; BadParameter says what is none."""
    words = text.split()
    wrong = [word for word in words if not word.partition(":=")[0].isidentifier() or ":=" not in word]
    if wrong:
        raise BadParameter(f"xacro_args: expected name:=value with blanks between them, got {wrong[0]!r}")
    return dict(word.split(":=", 1) for word in words) or None


def published_text(model: Model) -> str:
    """The robot as every reader of robot_description knows it."""
    return to_urdf(upright(model.description, model.sidecar), for_ros=True)


def from_topic(node: Node) -> str:
    """Wait for the topic robot_description, saying so."""
    received: list[str] = []
    subscription = node.create_subscription(String, "robot_description", lambda m: received.append(m.data), LATCHED)
    waiting = Waiting(node)
    while not received:
        waiting.look(f"a robot on {subscription.topic_name}")
        rclpy.spin_once(node, timeout_sec=0.2)
    waiting.look("")
    node.destroy_subscription(subscription)
    return received[0]
