# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The parameters of the physics node."""

from __future__ import annotations

from collections.abc import Mapping

from mbsim_ros.contact.law_registry import law_names
from mbsim_ros.integrators.registry import FLAGSHIP, names
from mbsim_ros.model.payload import FORM as PAYLOAD
from mbsim_ros.model.sidecar.settings import Gains
from mbsim_ros.nodes.parameters import Parameter
from mbsim_ros.sim.scenes.entity_list import FORM

LOCKSTEP, ASYNC = "lockstep", "async"
ALL, ROBOTS, NONE = "all", "robots", "none"
HOLD, DAMP, ZERO, WAIT = "hold", "damp", "zero", "wait"

GAINS = "gains."  # begins the names of the gains of all joints and motors: gains.elbow.kp, gains.elbow.kd

PARAMETERS = (
    Parameter(
        "robot_description", "", "The robot; if empty, robot_file, and if that is empty the topic of this name.",
        constraints="URDF text.",
    ),
    Parameter("robot_file", "", "The robot's file.", constraints="Path of a .urdf or .xacro file, or empty."),
    Parameter(
        "xacro_args", "", "Arguments of robot_file, where that is a .xacro.",
        constraints="name:=value, with blanks between them, or empty.",
    ),
    Parameter(
        "world", "", "Several robots and bodies, in place of one robot; names begin with that of the entity.",
        constraints="Path of a .world.yaml file, or empty.",
    ),
    Parameter(
        "entities", [""], "Several robots, in place of one, or beside those of the world; as above.",
        constraints=f"{FORM} each; a robot is a file or a name of `mbsim robots`.",
    ),
    Parameter(
        "entity_topics", ROBOTS, "Which entities of a scene have topics in a namespace of their own: all, those with "
        "joints, or none.", choices=(ALL, ROBOTS, NONE),
    ),
    Parameter(
        "sidecar", "", "What the URDF does not say; if empty, the one that lies by robot_file.",
        constraints="Path of a .mbsim.yaml file, or empty.",
    ),
    Parameter(
        "package_dirs", "", "Where packages with meshes are, besides the sourced workspaces.",
        constraints="Packages or folders of packages, with colons between them, or empty.",
    ),
    Parameter("base", "auto", "Whether the root is fixed to the world.", choices=("auto", "floating", "fixed")),
    Parameter("dt", 0.001, "Time step [s], a whole number of nanoseconds.", 1e-9, 1.0),
    Parameter("control_period", 0.002, "Time between two states [s], a multiple of dt.", 1e-9, 10.0),
    Parameter("integrator", FLAGSHIP, "Which integrator.", choices=names()),
    Parameter("quadrature", "midpoint", "Of the discrete Lagrangian.", choices=("midpoint", "trapezoidal")),
    Parameter("retraction", "cayley", "How a velocity moves a rotation.", choices=("cayley", "exp")),
    Parameter("order", 2, "2, or 4 where nothing takes energy; of gauss 4, 6 or 8, else 6.", 2, 8),
    Parameter(
        "tolerance", -1.0, "What an iteration may leave of its equations, relative to their terms; 0: as far as "
        "rounding lets; below zero: what the integrator takes by itself.", -1.0, 1e-3,
    ),
    Parameter(
        "gravity", [0.0, 0.0, -9.81], "Acceleration of gravity in the world [m/s²].", live=True,
        constraints="Three finite numbers.",
    ),
    Parameter(
        "terrain", "auto", "The ground; auto: as the sidecar says.",
        constraints="auto, flat, none, or path of a .yaml file with the section terrain of a sidecar.",
    ),
    Parameter(
        "friction", -1.0, "Coefficient of friction of all that touches; below zero: as the sidecar says.", -1.0, 100.0,
        live=True,
    ),
    Parameter(
        "contact_law", "auto", "Law along the normal of a contact; auto: as the sidecar says, else the integrator's.",
        choices=("auto", *law_names()),
    ),
    Parameter(
        "payload", [""], "Loads on links, which move with them from now on.",
        constraints=f"{PAYLOAD} each, in the link's frame.", live=True,
    ),
    Parameter(
        "body_contact", [""], "Links that may touch each other, as pairs `a b`; `all` for all that are apart.",
        constraints="Names of links.",
    ),
    Parameter("initial_state", "home", "State it starts in.", constraints="Name of a state in the sidecar."),
    Parameter(
        "coupling", "", "Coupling of the joints, engaged at the next state; empty at the start: every joint by itself.",
        constraints="Name of a coupling in the sidecar, or the text of one.", live=True,
    ),
    Parameter(
        "sync", ASYNC, "lockstep waits for an answer to every state; async goes on.", choices=(LOCKSTEP, ASYNC)
    ),
    Parameter(
        "lockstep_participants", [""], "Nodes whose answer is waited for; empty: one, whoever it is.",
        constraints="Names of nodes; `coupling` for who sends coupling_command, `wrench` for who sends wrench.",
        live=True,
    ),
    Parameter("lockstep_timeout", 5.0, "Wall time [s] after which a participant is missing.", 0.01, 1e6, live=True),
    Parameter(
        "on_missing", HOLD, "What happens without a participant: time goes on while joints hold, damp or do nothing, "
        "or it waits.", choices=(HOLD, DAMP, ZERO, WAIT), live=True,
    ),
    Parameter("command_timeout", 0.5, "async: sim time [s] a command holds; 0: for ever.", 0.0, 1e6, live=True),
    Parameter("on_timeout", HOLD, "async: what follows the last command.", choices=(HOLD, DAMP, ZERO), live=True),
    Parameter("start", HOLD, "hold: time begins with the first command; run: at once.", choices=(HOLD, "run")),
    Parameter("real_time_factor", 1.0, "Simulated over real time; 0: as fast as possible.", 0.0, 1e6, live=True),
    Parameter("duration", 0.0, "Simulated time [s] after which the node ends; 0: never.", 0.0, 1e9),
    Parameter("clock", "publish", "Whether this node owns /clock or goes by it.", choices=("publish", "follow")),
    Parameter(
        "world_frame", "world", "The world's frame; empty where another node says where odom_frame is.",
        constraints="Name of a frame, or empty.",
    ),
    Parameter(
        "odom_frame", "odom", "Frame that a floating base moves in; empty: world_frame.",
        constraints="Name of a frame, or empty.",
    ),
    Parameter("frame_prefix", "", "Prefix of all other frames.", constraints="Such as `left/`, or empty."),
    Parameter("publish_tf", "all", "Transforms of all links, of the base, or none.", choices=("all", "base", "none")),
    Parameter("contact_rate", 30.0, "Contacts published per simulated second.", 0.0, 1e4, live=True),
    Parameter(
        "joint_wrench_joints", [""], "Joints whose wrench is published with every state, as joint_wrench/<joint>.",
        constraints="Names of joints that move, or `all`.",
    ),
    Parameter("diagnostics_period", 1.0, "Wall time between diagnostics [s].", 0.05, 1e4, live=True),
)  # fmt: skip


def gain_parameters(gains: Mapping[str, Gains]) -> list[Parameter]:
    """The gains of every joint and motor as parameters."""
    found = []
    for name, own in gains.items():
        for gain, value, what in (("kp", own.kp, "Stiffness"), ("kd", own.kd, "Damping")):
            words = f"{what} with which positions and velocities that '{name}' is commanded are held."
            found.append(Parameter(f"{GAINS}{name}.{gain}", value, words, 0.0, 1e12, live=True))
    return found
