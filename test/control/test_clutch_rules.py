# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Clutches of robots that are no walkers: which requests are refused is what their sidecars say."""

from __future__ import annotations

import numpy as np
import pytest
from walker_runs import ROOT

from mbsim_ros import Simulation, load_urdf
from mbsim_ros.control.clutches.logic import ENGAGED, REFUSED, ClutchLogic, parse_request
from mbsim_ros.control.robot_state import RobotState
from mbsim_ros.dynamics import forward_kinematics
from mbsim_ros.model.problems import SidecarError

PENDULUM = """
couplings:
  geared: {motors: {drive: {shoulder: 1, elbow: -2}}}
  hanging: {like: geared, off: [elbow]}
  limp: {}
  parked: {locked: [".*"]}
gains: {drive: {kp: 0, kd: 40}}
clutch_rules:
  kept: {shoulder: the arm would fall}
  reserved: {parked: the controller parks it by itself}
"""
TABLE = """
couplings:
  all: {motors: {lift: {".*_hip": 1}, bend: {".*_knee": 1, ".*_hip": -1}}}
  "{}_off": {like: all, for_each: "{}_knee", off: ["{}_hip", "{}_knee"]}
  "{}_held": {like: all, for_some: "{}_knee", off: {bend: ["{}_hip"]}, locked: ["{}_knee"]}
clutch_rules:
  standing: {table: {feet: [".*_paw"], carrying: 3}}
"""
LEGS = ("north", "east", "south", "west")


def pendulum(tmp_path, text=PENDULUM):
    (tmp_path / "own.mbsim.yaml").write_text(text)
    return load_urdf(ROOT / "urdf" / "double_pendulum.urdf", sidecar=tmp_path / "own.mbsim.yaml")


def table(tmp_path, text=TABLE):
    """A plate on four legs, each with a hip, a knee and a paw that is fixed to the shin."""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    parts = [f'<link name="plate">{inertial}</link>']
    for k, leg in enumerate(LEGS):
        parent = "plate"
        for joint, link in (("hip", "thigh"), ("knee", "shin")):
            parts.append(f'''<link name="{leg}_{link}">{inertial}</link>
              <joint name="{leg}_{joint}" type="revolute"><parent link="{parent}"/><child link="{leg}_{link}"/>
              <origin xyz="{np.cos(k * np.pi / 2) * (parent == "plate")} {np.sin(k * np.pi / 2) * (parent == "plate")} -0.3"/>
              <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="99" velocity="9"/></joint>''')
            parent = f"{leg}_{link}"
        parts.append(f'''<link name="{leg}_paw">{inertial}<collision><geometry><sphere radius="0.05"/></geometry></collision></link>
          <joint name="{leg}_end" type="fixed"><parent link="{parent}"/><child link="{leg}_paw"/>
          <origin xyz="0 0 -0.3"/></joint>''')
    (tmp_path / "table.mbsim.yaml").write_text(text)
    return load_urdf(f'<robot name="table">{"".join(parts)}</robot>', "floating", sidecar=tmp_path / "table.mbsim.yaml")


def asked(logic, request, state):
    logic.request(parse_request(request))
    chosen = logic.update(0.0, state).coupling
    (event,) = logic.events
    return chosen, event


def test_an_arm_lets_go_what_its_rules_allow(tmp_path):
    sim = Simulation(pendulum(tmp_path), coupling="geared")
    logic = ClutchLogic(sim.model)
    sim.drive_motors(velocity={"drive": 0.5})
    sim.run(0.2)
    chosen, event = asked(logic, "limp", sim.state())
    assert (chosen, event.outcome) == ("geared", REFUSED)
    assert event.reason == "joint 'shoulder' would be free: the arm would fall; lock it, drive it, or force it"
    chosen, event = asked(logic, "parked", sim.state())
    assert event.reason == "'parked': the controller parks it by itself, or force it"
    chosen, event = asked(logic, "hanging", sim.state())
    assert (chosen, event.outcome, event.loss) == ("hanging", ENGAGED, 0.0)
    sim.couple(chosen)
    sim.run(0.1)
    chosen, event = asked(logic, "parked force", sim.state())
    assert (chosen, event.outcome) == ("parked", ENGAGED)
    assert sim.couple(chosen).loss == pytest.approx(event.loss, rel=1e-9)
    assert event.loss > 0.0
    assert logic.total_loss == pytest.approx(sim.ledger().clutch_loss, rel=1e-9)


def standing(model, coupling, forces, q=None):
    columns = len(ClutchLogic(model).couplings[coupling].column_names) - 6
    contacts = np.array([[0.0, 0.0, force, 0.0, 0.0, 0.0] for force in forces.values()])
    return RobotState(
        0, model.neutral if q is None else q, np.zeros(model.nv), motor_velocity=np.zeros(columns), coupling=coupling,
        contact_links=tuple(f"{leg}_paw" for leg in forces), contact_values=contacts,
    )  # fmt: skip


def test_a_table_keeps_three_legs_under_it(tmp_path):
    model = table(tmp_path)
    logic = ClutchLogic(model)
    assert logic.feet == tuple(f"{leg}_paw" for leg in LEGS)
    assert [limb.joints for limb in logic.rules.limbs] == [(f"{leg}_hip", f"{leg}_knee") for leg in LEGS]
    carried = dict.fromkeys(LEGS, 20.0)
    assert "east is loaded with 20 N" in asked(logic, "east_off", standing(model, "all", carried))[1].reason
    two = {**carried, "east": 0.0, "west": 1.0}
    assert "stands on 2 feet of the 3" in asked(logic, "east_off", standing(model, "all", two))[1].reason
    assert asked(logic, "east_off", standing(model, "all", {**carried, "east": 0.0}))[0] == "east_off"


def test_a_limb_comes_back_where_its_motors_find_it(tmp_path):
    """hip = lift − bend, knee = bend: a knee at 0.5 is 0.5 of bend, and of lift with the hip at 0."""
    model = table(tmp_path)
    logic = ClutchLogic(model)
    q = model.neutral.copy()
    q[model.joint("east_knee").iq] = 0.5
    forces = {**dict.fromkeys(LEGS, 20.0), "east": 0.0}
    chosen, event = asked(logic, "all", standing(model, "east_off", forces, q))
    assert chosen == "east_off"
    assert "east: east_shin is 0.5 rad off where 'bend' has those of frame table" in event.reason
    q[model.joint("east_knee").iq] = 0.1
    assert asked(logic, "all", standing(model, "east_off", forces, q))[0] == "all"


def test_couplings_for_each_and_for_some(tmp_path):
    couplings = table(tmp_path).sidecar.couplings
    assert len(couplings) == 1 + 4 + 14
    held = couplings["east_west_held"]
    assert held.locked == ("east_knee", "west_knee")
    assert held.motors == {
        "lift": {f"{leg}_hip": 1.0 for leg in LEGS},
        "bend": {"north_knee": 1.0, "south_knee": 1.0, "north_hip": -1.0, "south_hip": -1.0},
    }
    assert set(couplings["east_off"].motors["lift"]) == {"north_hip", "south_hip", "west_hip"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('couplings: {a: {for_each: "{}_x", like: b}}', "name without {}"),
        ('couplings: {"a{}": {for_each: "{}_x"}}', "fits no joint"),
        ('couplings: {"a{}": {for_each: "shoulder"}}', "not one {} in it"),
        ('couplings: {"a{}": {for_each: "{(}r"}}', "not a usable pattern"),
        ("couplings: {a: {like: b}}", "unknown coupling"),
        ('couplings: {"a{}": {for_each: "{}r"}, ashoulde: {}}', "coupling given twice"),
        ("couplings: {a: {motors: {m: {shoulder: 1}}, locked: [shoulder]}}", "both driven and locked"),
        ("couplings: {a: {}, b: {like: a, off: {m: [elbow]}}}", "no such motor"),
        ("clutch_rules: {kept: {knee: no}}", "unknown joint"),
        ("clutch_rules: {reserved: {a: no}}", "unknown coupling"),
        ("clutch_rules: {standing: {a: {feet: [lower_rod], carrying: 3}}}", "not a number of its feet"),
        ("gait: {waist: w}", "missing key"),
        ("gait: {waist: w, frames: {}}", "unknown coupling"),
        ("couplings: {normal: {}}\ngait: {waist: w, frames: {}}", "unknown motor"),
        ("initial_states: {home: {base: {lowest_point: 0, xyz: [0, 0, 0]}}}", "height given twice"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, text, problem):
    with pytest.raises(SidecarError, match=r"own.mbsim.yaml:\d+: .*" + problem.replace("{}", r"\{\}")):
        pendulum(tmp_path, text)


def test_a_state_stands_on_its_lowest_point(tmp_path):
    """Whatever the joints, the lowest paw is at the height that is given."""
    states = "initial_states: {home: {base: {lowest_point: 0.02}, joints: {north_knee: 0.4, south_hip: -0.3}}}\n"
    sim = Simulation(table(tmp_path, states))
    paws = [forward_kinematics(sim.model, sim.q).link_pose(f"{leg}_paw")[2, 3] for leg in LEGS]
    assert min(paws) == pytest.approx(0.05 + 0.02, abs=1e-9)
    assert max(paws) > 0.08
