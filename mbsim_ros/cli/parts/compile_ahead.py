# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Compiles the kernels that a launch will need, before ROS is there to launch it.

The launch file is evaluated as `mbsim launch` does it. Of each physics node in it the simulation is made that its
parameters describe, and goes one step, as the node does before it begins: so nothing is compiled that this launch does
not call. Kernels are kept where the nodes look for them. What fails here, fails again and is explained where it counts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mbsim_ros.launcher.node_spec import InlineParameter, NodeSpec
from mbsim_ros.launcher.plan import plan_launch

# Of the physics node's parameters those that say which simulation it is, with the node's defaults.
DEFAULTS: dict[str, Any] = {
    "robot_description": "", "robot_file": "", "xacro_args": "", "world": "", "entities": [""], "sidecar": "",
    "package_dirs": "", "base": "auto", "dt": 0.001, "integrator": "lie_variational", "quadrature": "midpoint",
    "retraction": "cayley", "order": 2, "gravity": [0.0, 0.0, -9.81], "terrain": "auto", "friction": -1.0,
    "contact_law": "auto", "payload": [""], "body_contact": [""], "initial_state": "home", "coupling": "",
}  # fmt: skip
PHYSICS = "physics"  # its executable
NONE = "none"  # where launch files have no robot


def compile_for_launch(arguments: Sequence[str]) -> int:
    """Compile what `mbsim launch` with these arguments will need; the number of simulations that were made for it."""
    from mbsim_ros.cli.launch import file_and_robot

    words = [word for word in arguments if not word.startswith("-")]
    if not words:
        return 0
    file, robot = file_and_robot(words[0])
    given = dict(word.split(":=", 1) for word in words[1:])
    nodes = [node for node in plan_launch(file, {**robot, **given}).nodes if Path(node.executable).name == PHYSICS]
    for node in nodes:
        _compile(physics_parameters(node))
    return len(nodes)


def physics_parameters(node: NodeSpec) -> dict[str, Any]:
    """Those of DEFAULTS as a launch file sets them; parameter files and what is set for all nodes do not count."""
    inline = {each.name: each.value for each in node.parameters if isinstance(each, InlineParameter)}
    return {name: inline.get(name, default) for name, default in DEFAULTS.items()}


def _compile(values: Mapping[str, Any]) -> None:
    from mbsim_ros.model.loading import load_urdf
    from mbsim_ros.sim.entities import Entities
    from mbsim_ros.sim.parameters import simulation_from
    from mbsim_ros.sim.scenes.entity_list import world_from

    folders = [folder for folder in values["package_dirs"].split(os.pathsep) if folder]
    world = world_from(values, folders)
    if world is not None:
        model = Entities(world).forest
    else:
        if values["robot_file"] in ("", NONE):
            return  # it comes over a topic
        xacro = dict(word.split(":=", 1) for word in values["xacro_args"].split()) or None
        model = load_urdf(
            values["robot_file"], values["base"], sidecar=values["sidecar"] or None, package_dirs=folders,
            xacro_args=xacro,
        )  # fmt: skip
    sim = simulation_from(model, values, world=world)
    sim.advance(1)
    sim.reset(values["initial_state"])
    _look_at(sim)


def _look_at(sim: Any) -> None:
    """Ask for what the node publishes: it has kernels of its own."""
    sim.ledger()
    sim.contacts()
