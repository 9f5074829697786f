# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The balance controller in a process of its own: W's experiments over DDS, set points, a controller that is killed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from biped_processes import LAUNCH_FILE, SECOND, biped_nodes
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, WrenchStamped
from physics_process import PATIENCE, ROOT, stamp
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter

from mbsim_ros.control.balance.workspace_balance import WorkspaceBalance, WorkspaceBalanceParameters
from mbsim_ros.control.joints.joint_hold import JointHold
from mbsim_ros.dynamics import link_pose
from mbsim_ros.launcher.plan import plan_launch
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.nodes.controllers.state_synchronizer import StateSynchronizer
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.world import load_world

PERIOD = 2_000_000  # ns: 500 Hz
BLOCK_IS_HIT = 0.5  # m/s: how much slower the block is then
WORLD = ROOT / "config/biped_and_block.world.yaml"
# W section 4.3, with x forward: the set point
EXPERIMENTS = {
    "1": ((0.01, 0.0, 1.10), (0.2617993877991494, 0.0, 0.0)),
    "2": ((0.01, 0.0, 1.14), (0.0, 0.2617993877991494, 0.0)),
}


WENDLANDT = {"integrator": "quaternion_variational", "contact_law": "wendlandt"}  # his scheme and his contact, too


@pytest.mark.parametrize(("experiment", "scheme"), [("1", {}), ("2", {}), ("1", WENDLANDT)], ids=["1", "2", "1 by W"])
def test_experiments_over_ros_have_the_numbers_of_those_without(experiment, scheme, tmp_path):
    """Physics and controller are two processes; what they publish is, bit for bit, what one computes."""
    position, rpy = EXPERIMENTS[experiment]
    with biped_nodes(tmp_path, "biped", PATIENCE, experiment=experiment, **scheme) as biped:
        biped.follow(lambda state: state.time == 3 * SECOND, "the end", 3.0)
    assert sorted(biped.states_by_stamp) == [PERIOD * k for k in range(1501)]
    states = list(biped.states_by_stamp.values())
    q, v = np.array([state.q for state in states]), np.array([state.v for state in states])

    model = biped.model
    sim = Simulation(
        load_world(WORLD) if experiment == "2" else model, integrator=scheme.get("integrator", "lie_variational"),
        contact={"law": scheme["contact_law"]} if scheme else None,
    )  # fmt: skip
    controller = WorkspaceBalance(model, WorkspaceBalanceParameters(position=position, rpy=rpy))
    driving = {"biped": controller} if experiment == "2" else controller
    alone = sim.run(3.0, driving, control_period=0.002, record=("q", "v"))
    own = None if sim.entities is None else sim.entities["biped"]
    assert (q == alone.q[::2][:, slice(None) if own is None else own.in_q]).all()
    assert (v == alone.v[::2][:, slice(None) if own is None else own.in_v]).all()

    controller.update(3.0, states[-1])
    turn = controller.orientation_error
    assert np.linalg.norm(controller.position_error) < (1e-6 if experiment == "1" else 1e-3)
    assert 2.0 * np.arctan2(np.linalg.norm(turn[1:]), turn[0]) < np.deg2rad(0.2)
    if experiment == "2":
        check_the_block_and_the_heels(model, q, alone.v[::2][:, sim.entities["block"].in_v[0]])


def check_the_block_and_the_heels(model, q, towards):
    """towards: velocity of the block forward."""
    impact = 0.002 * np.flatnonzero(towards < towards[0] - BLOCK_IS_HIT)[0]
    assert 0.07 <= impact <= 0.09  # printed: 0.08 s
    heel = np.array([-0.039, 0.0, -0.06, 1.0])
    for foot in ("left_foot", "right_foot"):
        height = np.array([(link_pose(model, each, foot) @ heel)[2] for each in q[:300]])
        assert height[50:200].max() > 0.005  # printed: from 0.13 s to 0.36 s and 0.38 s
        assert height[-1] < 0.0


def test_joints_of_several_dofs_are_left_out_unless_the_controller_needs_them():
    """JointState cannot tell of a ball joint, here of a lamp that hangs on the biped, which balances without."""
    text = to_urdf(load_urdf(ROOT / "urdf/biped.urdf.xacro").description)
    lamp = """<link name="lamp"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0"
        iyz="0"/></inertial></link><joint name="lamp_turn" type="spherical"><parent link="base_link"/>
        <child link="lamp"/></joint></robot>"""
    model = load_urdf(text.replace("</robot>", lamp))
    needed = WorkspaceBalance(model).needed_joints
    assert "left_knee" in needed and "lamp_turn" not in needed
    StateSynchronizer(model, needed)
    StateSynchronizer(model, JointHold(model).needed_joints)
    with pytest.raises(ValueError, match="'biped' with lamp_turn, whose state the controller needs"):
        StateSynchronizer(model)


def parameters_of(name: str, **arguments: str) -> tuple[str, dict]:
    """Executable and parameters of a node as the launch file has it."""
    node = next(node for node in plan_launch(LAUNCH_FILE, arguments).nodes if node.name == name)
    return Path(node.executable).name, {parameter.name: parameter.value for parameter in node.parameters}


@pytest.mark.parametrize(
    ("experiment", "distribution"), [("1", "minimum_norm"), ("2", "minimum_norm"), ("free", "cones")]
)
def test_the_launch_file_swaps_controllers_and_takes_set_points(experiment, distribution):
    executable, found = parameters_of("controller", experiment=experiment)
    assert executable == "balance_controller" and found["distribution"] == distribution
    if experiment in EXPERIMENTS:
        assert (tuple(found["position"]), tuple(found["rpy"])) == EXPERIMENTS[experiment]
    executable, found = parameters_of("controller", experiment=experiment, controller="joint_hold")
    assert executable == "joint_hold" and "position" not in found
    _, found = parameters_of("controller", experiment=experiment, position="[0.0, 0.0, 1.05]")
    assert found["position"] == [0.0, 0.0, 1.05]
    _, found = parameters_of("physics", experiment=experiment)
    assert Path(found["world"]).name == (WORLD.name if experiment == "2" else "")
    assert (found["robot_file"] == "none") is (experiment == "2")
    assert found["initial_state"] == ("standing" if experiment == "free" else "home")


def reaches(position):
    """Whether a state has the central body within 1 mm of a place, and slow."""
    return lambda state: np.linalg.norm(state.q[:3] - position) < 1e-3 and np.linalg.norm(state.v[:6]) < 1e-2


def test_set_points_a_push_and_what_the_diagnostics_tell(tmp_path):
    """By topics and by a parameter, with the launch file's own configuration."""
    said: dict[str, DiagnosticStatus] = {}
    with biped_nodes(tmp_path, "biped", PATIENCE, move_time="0.3") as biped:
        biped.create_subscription(
            DiagnosticArray, "/diagnostics", lambda m: said.update((s.name, s) for s in m.status), 9
        )
        topic = biped.create_publisher(PoseStamped, "set_point", 10)
        biped.follow(reaches((-0.035, 0.0, 1.08)), "the set point of the launch file", 5.0)

        biped.spin_until(lambda: topic.get_subscription_count() > 0, "the controller to listen to set points")
        wrong = PoseStamped()
        wrong.header.frame_id = "map"
        topic.publish(wrong)
        wanted = PoseStamped()
        wanted.header.frame_id = "world"
        wanted.pose.position.x, wanted.pose.position.z = -0.035, 1.02
        wanted.pose.orientation.w, wanted.pose.orientation.y = np.cos(0.05), np.sin(0.05)
        topic.publish(wanted)
        state = biped.follow(reaches((-0.035, 0.0, 1.02)), "the set point of the topic", 10.0)
        np.testing.assert_allclose(state.q[3:7], (0.0, np.sin(0.05), 0.0, np.cos(0.05)), atol=1e-3)

        change = [Parameter("position", value=[-0.03, 0.01, 1.05]).to_parameter_msg()]
        request = SetParameters.Request(parameters=change)
        assert biped.call("controller/set_parameters", SetParameters, request).results[0].successful
        state = biped.follow(reaches((-0.03, 0.01, 1.05)), "the set point of the parameter", 15.0)
        np.testing.assert_allclose(state.q[3:7], (0.0, 0.0, 0.0, 1.0), atol=1e-3)  # the parameters' whole set point
        refused = biped.call(
            "controller/set_parameters", SetParameters,
            SetParameters.Request(parameters=[Parameter("position", value=[0.0, 1.0]).to_parameter_msg()]),
        )  # fmt: skip
        assert refused.results[0].reason == "position: expected three numbers, got 2"

        pushes = biped.create_publisher(WrenchStamped, "wrench", 10)
        biped.spin_until(lambda: pushes.get_subscription_count() > 0, "physics to listen to pushes")
        push = WrenchStamped()
        push.header.frame_id = "base_link"
        push.wrench.force.y = 150.0  # N, for 0.1 s: 15 N s
        pushes.publish(push)
        state = biped.follow(lambda state: state.q[1] > 0.03, "the push", state.time / SECOND + 5.0)
        biped.follow(reaches((-0.03, 0.01, 1.05)), "it to be back", state.time / SECOND + 5.0)

        name, common = "/biped/controller: balance", "/biped/controller: controller"
        said.clear()
        biped.spin_until(lambda: {name, common} <= set(said), "diagnostics")
        entries = {entry.key: entry.value for entry in said[name].values}
        assert said[name].level == DiagnosticStatus.OK and said[name].message == "balances"
        assert np.abs(np.array(entries["position error [mm]"].split(), dtype=float)).max() < 1.0
        assert float(entries["orientation error [deg]"]) < 0.2
        force = np.array(entries["desired force [N]"].split(), dtype=float)
        assert 550.0 < force[2] < 650.0 and len(entries["desired moment [N m]"].split()) == 3  # W: 594 N
        assert entries["standing feet"] == "left_foot right_foot"
        counted = {entry.key: entry.value for entry in said[common].values}
        assert counted["set point refused"] == "1"


def test_killed_and_started_again_while_it_stands(tmp_path):
    """Physics holds the joints where they are: it stands; the next controller balances again."""
    middle = (-0.035, 0.0, 1.08)
    with biped_nodes(tmp_path, "biped", PATIENCE) as biped:

        def wait_for_answers(seconds: float) -> None:
            change = [Parameter("lockstep_timeout", value=seconds).to_parameter_msg()]
            done = biped.call("physics/set_parameters", SetParameters, SetParameters.Request(parameters=change))
            assert done.results[0].successful

        before = biped.follow(reaches(middle), "the first controller", 5.0)
        biped.processes[-1].kill()
        biped.processes[-1].wait()
        wait_for_answers(0.1)
        held = biped.follow(lambda s: s.time >= before.time + 2 * SECOND, "time to go on", 1000.0)
        assert np.linalg.norm(held.q[:3] - before.q[:3]) < 0.01 and np.abs(held.v).max() < 0.01
        assert np.abs(held.q[3:7] - before.q[3:7]).max() < 0.01
        assert ": hold until it is back" in biped.written()
        assert "all participants are back" not in biped.written()

        wait_for_answers(PATIENCE)
        biped.start("controller")
        biped.follow(lambda _: "all participants are back" in biped.written(), "the second controller", 1000.0)
        back = stamp(biped.states[-1]) / SECOND
        biped.follow(
            lambda s: s.time > (back + 1.5) * SECOND and reaches(middle)(s),
            "the second controller to balance",
            back + 5,
        )
