# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What every topic and service is for, node by node; parameters carry their own descriptions.

A name that a running node shows and that is not here is an error, and so is one that is here and no node shows:
`mbsim interface` says which. `<…>` in a name stands for a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mbsim_ros.bags.topics import STANDARD


@dataclass(frozen=True)
class Text:
    """What a topic or service is for.

    example: what to send, as YAML; again_and_again: whether it is sent until one has enough, since it lasts only a
    moment; sample: a name that stands for one with `<…>`; launch, space: another launch than that of the node which the
    example needs, and its namespace.
    """

    words: str
    example: str = ""
    again_and_again: bool = False
    sample: str = ""
    launch: str = ""
    space: str = ""


@dataclass(frozen=True)
class NodeText:
    """A node: what it is, how to run one to try the commands on, and what its topics and services are for.

    runs_as: name of the node in that launch; live: a parameter and a value to set while it runs.
    """

    words: str
    launch: str
    runs_as: str
    publishes: Mapping[str, Text] = field(default_factory=dict)
    subscribes: Mapping[str, Text] = field(default_factory=dict)
    offers: Mapping[str, Text] = field(default_factory=dict)
    calls: Mapping[str, Text] = field(default_factory=dict)
    live: tuple[str, str] | None = None

    def of(self, direction: str) -> Mapping[str, Text]:
        """The texts of one direction, see reports.DIRECTIONS."""
        found: Mapping[str, Text] = getattr(self, direction)
        return found


LOOSE_ARM = "./mbsim launch simulate robot:=urdf/arm.urdf.xacro namespace:=arm sync:=async controller:=none"
LOOSE_WALKER = (
    "./mbsim launch simulate robot:=urdf/walker.urdf.xacro namespace:=walker "
    "coupling:=normal initial_state:=standing sync:=async controller:=none"
)
COMMON = "controllers"  # what all controllers have
WALKER, ARM, BIPED = "./mbsim launch walker", "./mbsim launch arm", "./mbsim launch biped"

PHYSICS = NodeText(
    "Integrates one robot, or a scene of several, publishes its state and acts on commands: [the physics "
    "node](physics_node.md). Besides the parameters below it has `gains.<name>.kp` and `gains.<name>.kd` of every "
    "joint and motor, all live. Robots of a scene have most of its topics once more, in namespaces of their own: "
    "[scenes](scenes.md#entities-over-ros).",
    WALKER, "/walker/physics",
    publishes={
        "joint_states": Text("State of all joints of one degree of freedom; effort: of the drive, after its limit."),
        "odom": Text("Pose of a floating base in `odom_frame`, twist in the base's axes; both exact, variances 1e-9."),
        "motor_states": Text("Columns of the coupling: where the motors are; `header.frame_id` names the coupling."),
        "whole_state": Text(
            "All of these in one message, for controllers: entries of q with rates and efforts, then `motor/<name>`, "
            "then `contact/<link>/x`, `y`, `z` with the force on a link (effort) and its centre (position) in the "
            "world; `header.frame_id` names the coupling."
        ),
        "view_state": Text("Entries of q at most 30 times per second of wall time, for those who look."),
        "coupling_state": Text("Name of the coupling in force, or itself, as JSON, where the sidecar has it not."),
        "contacts": Text("Markers: points that touch, coloured by mode, and their forces; `contact_rate` per second."),
        "contact_wrench/<link>": Text(
            "Wrench of all contacts of a link, at its origin in its axes.", sample="contact_wrench/AFL_tibia"
        ),
        "joint_wrench/<joint>": Text(
            "Wrench that the parent exerted on the child of a joint in the last step, at the child's origin in its "
            "axes; of `joint_wrench_joints`.", sample="joint_wrench/elbow",
            launch=f"{ARM} joint_wrench_joints:=[elbow]", space="/arm",
        ),
        "robot_description": Text("URDF of the robot; not where it came from this topic."),
        "simulation_setup": Text("JSON: all that it takes to run this again, for `mbsim replay` and the viewer."),
        "simulation_journal": Text(
            "JSON: what acted on the simulation at every instant, for [`mbsim replay`](recording.md); volatile, some "
            "20 messages a second."
        ),
        "lockstep_events": Text(
            "JSON: who is waited for, missing, back, and when `hold`, `damp` or `zero` began: `sequence`, `stamp_ns`, "
            "`event`, `who`."
        ),
        "reset_epoch": Text("How often the simulation has been reset."),
        "/tf": Text("Transforms of base and joints, one message per stamp."),
        "/tf_static": Text("Transforms of fixed joints, and of a fixed base or `odom_frame` in the world.", launch=ARM),
        "/clock": Text("Simulated time; with `clock: publish`."),
        "/diagnostics": Text("Energy ledger, real-time factor, solver, refused commands."),
    },
    subscribes={
        "joint_commands": Text(
            "Commands of joints by name: any of position, velocity, effort. In lockstep stamped with the state they "
            "answer and signed with the node's full name in `header.frame_id`; in async as they come.",
            "{name: [elbow], position: [0.5]}", True, launch=LOOSE_ARM, space="/arm",
        ),
        "motor_commands": Text(
            "The same for the columns of the coupling.", "{name: [waist], position: [0.1]}", True,
            launch=LOOSE_WALKER, space="/walker",
        ),
        "wrench_commands": Text(
            "Wrenches on the links `joint_names`, at their origins in their axes, all of one answer; stamped and "
            "signed as `joint_commands`. They last for 0.1 s or until the next.",
            "{joint_names: [top], wrench: [{force: {y: 60.0}}]}", launch=LOOSE_WALKER, space="/walker",
        ),
        "coupling_command": Text(
            "Engages a coupling: `name` in the sidecar, or one itself, `{motors: {drive: {hip: 1}}}`; with "
            "`@stamp` in nanoseconds to act at that state.",
            "{data: hold}", launch=LOOSE_WALKER, space="/walker",
        ),
        "wrench": Text(
            "Pushes the link `header.frame_id` at its origin in its axes, for 0.1 s or until the next one.",
            "{header: {frame_id: top}, wrench: {force: {y: 60.0}}}",
        ),
        "robot_description": Text("The robot, where neither `robot_description` nor `robot_file` is given."),
        "/clock": Text("Time of another robot to go by; with `clock: follow`."),
    },
    offers={
        "pause": Text("Stops time.", "{}"),
        "step": Text("One control period while paused.", "{}"),
        "resume": Text("Lets it go on.", "{}"),
        "reset": Text("Initial state; the clock goes on by 1 s, never back.", "{}"),
        "get_simulator_features": Text("Which of the standard services' features there are.", "{}"),
        "get_simulation_state": Text("Whether it is stopped (0), plays (1) or is paused (2).", "{}"),
        "set_simulation_state": Text(
            "Plays (1), pauses (2) or stops (0): in the initial state, paused.", "{state: {state: 2}}"
        ),
        "step_simulation": Text("A number of control periods while paused.", "{steps: 10}"),
        "reset_simulation": Text("As `reset`; time cannot be reset.", "{}"),
        "get_entities": Text("Those that pass the filters; without a scene the one entity, the robot's name.", "{}"),
        "spawn_entity": Text(
            "Adds a robot or body to a [scene](scenes.md#entities-over-ros) while it runs: a name of `mbsim robots`, a "
            "file, or a text. Before 2.0 uri and resource_string are fields of the request itself.",
            "{name: second, entity_resource: {uri: arm}, initial_pose: {pose: {position: {y: 1.0}}}}",
        ),
        "spawn_entities": Text(
            "The same of several, a list `spawn_requests` with the fields of spawn_entity in each, at one instant; one "
            "that is refused keeps none of the others away. Since 1.4.",
            "{}",
        ),
        "delete_entity": Text("Takes one out of a scene, with its topics.", "{entity: second}"),
        "get_spawnables": Text("Names that spawn_entity takes, and robots in the folders that are given.", "{}"),
        "get_entity_state": Text("Pose and twist of its base in the world.", "{entity: walker}"),
        "set_entity_state": Text(
            "Puts a floating base somewhere else; joints stay. Before 2.0 it has no flags: pose and twist are set.",
            "{entity: walker, set_pose: true, state: {pose: {position: {z: 0.45}, orientation: {w: 1.0}}}}",
        ),
    },
    live=("real_time_factor", "0.5"),
)  # fmt: skip

CONTROLLER = NodeText(
    "What all controllers have: they answer every state with a command of its stamp, on the topics that they need "
    "([controllers](controllers.md)). One of your own may answer on `motor_commands`, and ask for a coupling on "
    "`coupling_command`. Launch files name the node `controller`, whichever it is.",
    WALKER, "/walker/controller",
    publishes={
        "joint_commands": Text("The answer of those that command joints.", launch=ARM, space="/arm"),
        "/diagnostics": Text("Answers per second, time per update, what it waits for, what went wrong."),
    },
    subscribes={
        "joint_states": Text("The state that is answered."),
        "odom": Text("The base of the same stamp, where it floats."),
        "whole_state": Text("In place of these two and `motor_states`; with `whole_state`."),
        "robot_description": Text("The robot; unless the parameter of this name is given."),
    },
)  # fmt: skip

# By module, in the order of the page. A controller has what CONTROLLER has, too.
NODES = {
    "physics": PHYSICS,
    COMMON: CONTROLLER,
    "joint_hold": NodeText(
        "Holds a posture.", f"{ARM} controller:=joint_hold", "/arm/controller", live=("gravity_compensation", "true")
    ),
    "computed_torque": NodeText(
        "Follows a trajectory of the joints with computed torque.", ARM, "/arm/controller",
        subscribes={
            "joint_trajectory": Text(
                "What some or all joints follow from the next state on (or from its stamp); they stay at its end.",
                "{joint_names: [elbow], points: [{positions: [0.4], time_from_start: {sec: 1}}]}",
            )
        },
        live=("ramp", "0.5"),
    ),
    "balance_controller": NodeText(
        "Balances [the biped](biped.md) over its feet.", BIPED, "/biped/controller",
        subscribes={
            "set_point": Text(
                "Pose of the central body's centre of mass in the world, approached in `move_time`.",
                "{pose: {position: {x: -0.03, z: 1.05}, orientation: {w: 1.0}}}",
            ),
            "set_point_trajectory": Text(
                "Poses of the same with velocities and accelerations, in the world; after the last it stays there.",
                "{points: [{transforms: [{translation: {x: -0.03, z: 1.05}, rotation: {w: 1.0}}], "
                "time_from_start: {sec: 1}}]}",
            ),
        },
        live=("move_time", "2.0"),
    ),
    "viscoelastic_controller": NodeText(
        "Holds bodies as if springs and dampers did, and tells its Lyapunov function: "
        "[visco-elastic feedback](viscoelastic.md).",
        "./mbsim launch simulate robot:=urdf/biped.urdf.xacro namespace:=biped sync:=async start:=run "
        "controller:=viscoelastic_controller",
        "/biped/controller",
        publishes={
            "wrench_commands": Text("The answer: wrenches on the links that are held."),
            "lyapunov": Text("v of the state that was answered, which never increases [J]."),
        },
        subscribes={
            "activations": Text(
                "Forces of the active elements of muscles, by name [N].", "{name: [biceps], effort: [40.0]}"
            )
        },
        live=("alpha", "0.5"),
    ),
    "walker_controller": NodeText(
        "The gait of [the walker](walker.md).", WALKER, "/walker/controller",
        publishes={
            "motor_commands": Text("The answer: targets of the motors."),
            "coupling_command": Text("The coupling that is to be in force, to every state; with `rough`."),
            "velocity_taken": Text("Every change of velocity, with the stamp of the state at which it acted."),
        },
        subscribes={
            "cmd_vel": Text(
                "Velocity from the first state at or after its stamp on: `linear.x` [m/s], `angular.z` [rad/s]; "
                "`linear.z` above zero stands up, below zero sits down. It ends after `cmd_vel_timeout`. "
                "geometry_msgs/msg/Twist is taken, too, and acts at once.",
                "{twist: {linear: {x: 0.3}, angular: {z: 0.05}}}",
            ),
            "motor_states": Text("The motors of the same stamp."),
            "coupling_state": Text("The coupling, where `motor_states` does not name it."),
            "contact_wrench/<foot>": Text("Forces under the feet of the same stamp; with `rough`."),
        },
        live=("lift", "0.07"),
    ),
    "clutch_manager": NodeText(
        "Owns the coupling of a robot, such as [the walker](walker.md): takes requests and refuses what the "
        "[rules of its sidecar](couplings.md#rules) forbid.",
        WALKER, "/walker/clutch_manager",
        publishes={
            "coupling_command": Text("The answer: the coupling that is to be in force."),
            "clutch_state": Text("JSON: what became of the last request, and why."),
            "clutch_loss": Text("Energy that clutches have taken since the start [J]."),
        },
        subscribes={
            "clutch_request": Text(
                "Name of a coupling, then any of `soft` (wait until speeds match), `hard`, `force`.",
                "{data: hold soft}",
            ),
            "motor_states": Text("The motors of the same stamp."),
            "coupling_state": Text("The coupling before the first decision."),
            "contact_wrench/<foot>": Text("Forces under the feet of `clutch_rules`, to know which legs are loaded."),
        },
        offers={
            "clutch/<coupling>": Text(
                "The same request, answered when it is decided; true: soft.", "{data: true}", sample="clutch/normal"
            )
        },
        live=("patience", "5.0"),
    ),
    "viewer": NodeText(
        "The web view: [looking at it](viewing.md). Its sliders set the live parameters of the nodes beside it.",
        WALKER, "/walker/viewer",
        publishes={"wrench": Text("Pushes by its button.")},
        subscribes={
            "view_state": Text("The robot."),
            "joint_states": Text("Its joints, where there is no `simulation_setup`."),
            "odom": Text("Its base, where there is no `simulation_setup`."),
            "contacts": Text("Points that touch, and forces."),
            "coupling_state": Text("Which legs are braked or free."),
            "simulation_setup": Text("Robot and ground."),
            "robot_description": Text("The robot, where there is no `simulation_setup`."),
            "/diagnostics": Text("Ledger and real-time factor."),
            "lyapunov": Text("v of a controller that tells it, for a plot."),
        },
        calls={name: Text("By its button.") for name in ("pause", "resume", "step", "reset")},
    ),
    "record": NodeText(
        "Writes a bag: [recording and replay](recording.md).", f"{WALKER} record:=true", "/walker/record",
        publishes={"joint_commands": Text("Empty answers; with `lockstep`.")},
        subscribes={topic.name: Text("Recorded.") for topic in STANDARD},
    ),
    "drive_teleop": NodeText(
        "Drives with the keyboard: `./mbsim drive`.", WALKER, "/walker/drive_teleop",
        publishes={"cmd_vel": Text("What the keys ask for.")},
        subscribes={"odom": Text("Shown; its stamp is that of the velocities.")},
    ),
    "drive_replay": NodeText(
        "Drives with the velocities of a bag, each at the state at which it acted; takes part in lockstep.",
        f"{WALKER} velocities:=my_run", "/walker/drive_replay",
        publishes={
            "cmd_vel": Text("The velocities, before they are due."),
            "joint_commands": Text("Empty answers, once the velocities have arrived."),
        },
        subscribes={"joint_states": Text("The time.")},
    ),
}  # fmt: skip
CONTROLLERS = (
    "joint_hold", "computed_torque", "balance_controller", "viscoelastic_controller", "walker_controller",
    "clutch_manager",
)  # fmt: skip
OF_TOOLS = {
    "joint_trajectory_controller": "a controller that offers FollowJointTrajectory: [ros2_control](ros2_control.md)",
    "python_file": "runs a controller of one's own from its file",
    "rviz": "becomes RViz with the displays of its parameter `config`",
    "doctor_echo": "answers `mbsim doctor`",
    "doctor_probe": "asks for `mbsim doctor`",
    "bench_probe": "answers or asks for `mbsim bench ros`",
    "soak": "watches for `mbsim soak`",
    "soak_chaos": "is one run of `mbsim soak --chaos`",
    "soak_many": "makes the runs of `mbsim soak --chaos`",
    "soak_spawn": "spawns and deletes for `mbsim soak --spawn`",
    "soak_walk": "watches for `mbsim soak --walk`",
    "fuzz_messages": "sends hostile messages for `mbsim soak --fuzz`",
}
