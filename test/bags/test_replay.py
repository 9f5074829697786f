# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`mbsim replay`: what was recorded is computed again bit for bit, and what was tampered with is found."""

from __future__ import annotations

import json
import struct

import pytest
from hand_made_run import HOPPER, PARAMETERS, PERIOD, ROOT, begin, wavy
from message_samples import joint_state, serialized, wrench
from std_msgs.msg import String

from mbsim_ros.bags.bag_reader import BagReader
from mbsim_ros.bags.bag_writer import BagWriter
from mbsim_ros.bags.formats.cdr import joint_message, string_message
from mbsim_ros.bags.recorded_run import CannotReplay
from mbsim_ros.bags.replay import replay
from mbsim_ros.bags.setup import SimulationSetup
from mbsim_ros.cli.main import main
from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.problems import UrdfWarning
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.nodes.physics.simulation_setup import setup_of
from mbsim_ros.sim.parameters import simulation_from
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.surroundings.friction import change_friction


def rewritten(bag, folder, change):
    """A copy of a bag with every message as `change(message)` has it; None leaves it out."""
    reader = BagReader(bag)
    with BagWriter(folder) as writer:
        for topic in reader.topics.values():
            writer.add_topic(topic.name, topic.type, topic.quality)
        for message in reader.messages():
            data = change(message)
            if data is not None:
                writer.write(message.topic, message.time, data)
    return folder


def replayed(run, **options):
    run.writer.close()
    (report,) = replay(run.writer.folder, **options)
    return report


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    run = begin(tmp_path_factory.mktemp("replay") / "bag")
    run.run(100, wavy)
    run.writer.close()
    return run


def test_equal_bits(recorded):
    (report,) = replay(recorded.writer.folder)
    assert report.is_same
    assert (report.states, report.tolerance, report.notes, report.namespace) == (101, 0.0, [], "/arm")
    assert report.seconds == pytest.approx(0.2)


def test_floating_base_on_the_ground(tmp_path):
    run = begin(tmp_path / "bag", HOPPER, "initial_states: {home: {base: {xyz: [0, 0, 0.1]}}}", terrain="flat")
    run.run(150, wavy)
    assert any(report.penetration > 0.0 for report in run.sim.contacts()), "it has landed"
    report = replayed(run)
    assert report.is_same, report.difference
    assert report.states == 151


@pytest.mark.parametrize("by", ["sidecar", "terrain"])
def test_hills_of_an_image_are_in_the_bag(tmp_path, by):
    """What physics says of itself carries the image, of the sidecar as of terrain:=FILE: it may be gone at the replay."""
    sidecar, state = tmp_path / "hopper.mbsim.yaml", "initial_states: {home: {base: {xyz: [3, 2, 1.0]}}}\n"
    for name in ("hills.png", "terrain_hills.yaml"):
        (tmp_path / name).write_bytes((ROOT / "config" / name).read_bytes())
    section = (tmp_path / "terrain_hills.yaml").read_text()
    sidecar.write_text(state + section if by == "sidecar" else state)
    (tmp_path / "hopper.urdf").write_text(HOPPER)
    values = {**PARAMETERS, "terrain": "auto" if by == "sidecar" else str(tmp_path / "terrain_hills.yaml")}
    sim = simulation_from(load_urdf(tmp_path / "hopper.urdf"), values)
    made = json.loads(json.dumps(setup_of(sim, HOPPER, values)))
    assert list(made["files"]) == [by] and list(made["files"][by]) == ["hills.png"]
    (tmp_path / "hills.png").unlink()
    kept = {key: made[key] for key in ("contact_points", "files")}
    run = begin(tmp_path / "bag", HOPPER, made["sidecar"], more=kept, terrain=made["parameters"]["terrain"])
    assert run.sim.identity == sim.identity
    run.run(250, wavy)
    assert any(report.penetration > 0.0 for report in run.sim.contacts()), "it has landed on a hill"
    assert run.sim.q[2] > 0.2
    report = replayed(run)
    assert report.is_same, report.difference
    for files, words in (({by: {"hills.png": "?"}}, "expected base64"), ({}, "text has no folder")):
        with pytest.raises(ValueError, match=words):
            SimulationSetup.from_json(json.dumps({**made, "files": files})).simulation()


def test_a_robot_with_mesh_feet_is_replayed_without_its_meshes(tmp_path, capsys):
    name, mesh = "package://hopper/foot.obj", tmp_path / "built/foot.obj"
    corners = "".join(f"v {x} {y} {z}\n" for x in (-0.1, 0.1) for y in (-0.07, 0.1) for z in (-0.05, 0.03))
    mesh.parent.mkdir()
    mesh.write_text(corners)
    robot = HOPPER.replace('<box size="0.2 0.2 0.1"/>', f'<mesh filename="{name}"/>')
    values = {**PARAMETERS, "terrain": "flat"}
    sim = simulation_from(make_model(parse_urdf(robot, found_meshes={name: str(mesh)})), values)
    made = setup_of(sim, robot, values)
    assert (made["meshes"], len(made["contact_points"])) == ({name: str(mesh)}, 8)
    kept = {key: made[key] for key in ("meshes", "contact_points")}
    run = begin(tmp_path / "bag", robot, "", more=kept, terrain="flat")
    assert run.sim.model.description.link("body").collisions[0].geometry.path == mesh
    run.run(50, wavy)
    mesh.unlink()
    with pytest.warns(UrdfWarning, match="package of a mesh not found"):
        report = replayed(run)
    assert report.is_same, report.difference

    def as_of_before(message):
        if not message.topic.endswith("simulation_setup"):
            return message.data
        words = {**json.loads(string_message(message.data)), "contact_points": None}
        return serialized(String(data=json.dumps(words)))

    old = rewritten(run.writer.folder, tmp_path / "old", as_of_before)
    with pytest.warns(
        UserWarning, match=f"no collision shapes .mesh '{name}' was not found.: it touches with the origins"
    ):
        assert main(["replay", str(old)]) == 1
    assert "DIFFERENT" in capsys.readouterr().out
    (tmp_path / "hopper").mkdir()
    (tmp_path / "hopper/foot.obj").write_text(corners)
    assert main(["replay", str(old), "--package-dir", str(tmp_path)]) == 0


def test_the_last_bit_of_one_number_is_found(recorded, tmp_path):
    stamp, position = recorded.states[40]

    def flip(message):
        if message.topic == "/arm/joint_states" and message.time == stamp:
            number = struct.pack("<d", position[1])
            assert message.data.count(number) == 1
            return message.data.replace(number, bytes([number[0] ^ 1]) + number[1:])
        return message.data

    bag = rewritten(recorded.writer.folder, tmp_path / "bag", flip)
    (report,) = replay(bag)
    assert (report.difference.stamp, report.difference.what) == (stamp, "position of 'elbow'")
    assert report.difference.replayed == position[1] != report.difference.recorded
    assert replay(bag, 1e-12)[0].is_same
    assert main(["replay", str(bag)]) == 1


def test_a_command_that_was_another_shows_in_the_next_state(recorded, tmp_path, capsys):
    def stronger(message):
        command = joint_message(message.data) if message.topic == "/arm/joint_commands" else None
        if command is not None and command.stamp == 30 * PERIOD:
            return serialized(joint_state(command.stamp, command.names, command.frame_id, effort=command.effort + 1e-9))
        return message.data

    bag = rewritten(recorded.writer.folder, tmp_path / "bag", stronger)
    (report,) = replay(bag)
    assert report.difference.stamp == 31 * PERIOD
    assert main(["replay", str(bag)]) == 1
    assert "DIFFERENT: at 0.062 s (62000000 ns) the position of 'shoulder'" in capsys.readouterr().out


@pytest.mark.parametrize(
    "coupling", ["both", '{"motors":{"winch":{"shoulder":1,"elbow":-0.3}},"torque_limit":{"elbow":0.2}}']
)
def test_couplings_motors_and_resets(tmp_path, coupling):
    """By a name of the sidecar, and by a text that no sidecar has, with a clutch that slips."""
    run = begin(tmp_path / "bag", lockstep_participants=["controller"])
    run.run(20, wavy)
    run.publish("coupling_command", String(data=f"{coupling}@{run.stamp}"))
    run.answer(wavy(run.sim))
    assert run.intake.couple(coupling) == ""
    run.advance()
    for _ in range(20):
        run.answer({"winch": 0.5}, topic="motor_commands")
        run.advance()
    assert all(clutch.slips for clutch in run.sim.clutches().values())
    run.reset()
    run.run(20, lambda sim: {"shoulder": 0.2})
    report = replayed(run)
    assert report.is_same, report.difference
    assert (report.states, report.resets, report.notes) == (63, 1, [])


def test_participants_act_in_their_order_and_first_answers_count(tmp_path):
    run = begin(tmp_path / "bag", lockstep_participants=["first", "/other/second"])
    for k in range(30):
        a, b = {"shoulder": 0.1 * k, "elbow": -1.0}, {"elbow": 0.2}
        second = joint_state(run.stamp, tuple(b), "/other/second", effort=list(b.values()))
        run.publish("joint_commands", second)  # came first, acts last
        run.answer(a, "/arm/first")
        for stranger in ("/arm/first", "/arm/nobody", ""):  # a duplicate, and two who do not take part
            run.publish("joint_commands", joint_state(run.stamp, ("shoulder",), stranger, effort=[9.0]))
        run.intake.joints.read(tuple(b), [], [], list(b.values())).apply()
        run.advance()
    assert replayed(run).is_same


def test_a_participant_that_was_missing_and_came_back(tmp_path):
    run = begin(tmp_path / "bag")
    run.run(20, wavy)
    run.intake.hold()  # no answer to this state: physics holds
    for _ in range(10):
        run.advance()
    late = joint_state(run.stamp, ("elbow",), "/arm/controller", effort=[3.0])
    run.publish("joint_commands", late)  # it is back: this says so and does not act
    run.publish_state(again=True)
    run.run(10, wavy)
    report = replayed(run)
    assert report.is_same, report.difference
    assert report.states == 41


def test_a_run_that_starts_without_its_controller(tmp_path):
    run = begin(tmp_path / "bag", start="run", on_missing="zero")
    for _ in range(10):
        run.advance()
    run.publish("joint_commands", joint_state(run.stamp, ("elbow",), "/arm/controller", effort=[3.0]))
    run.publish_state(again=True)
    run.run(10, wavy)
    report = replayed(run)
    assert report.is_same, report.difference


def test_a_state_that_was_set_from_outside_cannot_be_replayed(tmp_path):
    run = begin(tmp_path / "bag")
    run.run(10, wavy)
    run.sim.reset([0.1, 0.2])
    run.publish_state()
    with pytest.raises(CannotReplay, match="at 20000000 ns the state was set from outside"):
        replayed(run)


def test_a_state_with_too_few_numbers_cannot_be_replayed(recorded, tmp_path):
    stamp, position = recorded.states[40]

    def cut(message):
        if message.topic == "/arm/joint_states" and message.time == stamp:
            return serialized(joint_state(stamp, joint_message(message.data).names, "", position=position))
        return message.data

    with pytest.raises(CannotReplay, match=f"at {stamp} ns has 0 numbers for velocity, not 2"):
        replay(rewritten(recorded.writer.folder, tmp_path / "bag", cut))


def test_lost_states_are_computed_and_counted(recorded, tmp_path):
    lost = {10 * PERIOD, 11 * PERIOD, 50 * PERIOD}

    def keep(m):
        return None if m.topic == "/arm/joint_states" and m.time in lost else m.data

    (report,) = replay(rewritten(recorded.writer.folder, tmp_path / "bag", keep))
    assert report.is_same
    assert report.states == 98
    assert report.notes == ["3 states are not in the bag: they were computed, but could not be compared"]


def test_what_cannot_be_replayed_says_why(recorded, tmp_path, capsys):
    whole = recorded.writer.folder
    late = rewritten(whole, tmp_path / "late", lambda m: m.data if m.time > 0 or "setup" in m.topic else None)
    with pytest.raises(CannotReplay, match=r"begins at 0\.002 s: what happened before is not in it"):
        replay(late)
    without = rewritten(whole, tmp_path / "without", lambda m: None if "setup" in m.topic else m.data)
    with pytest.raises(CannotReplay, match="no message on simulation_setup"):
        replay(without)
    strange = rewritten(
        whole, tmp_path / "strange", lambda m: serialized(String(data="[]")) if "setup" in m.topic else m.data
    )
    with pytest.raises(CannotReplay, match="not the setup of a simulation"):
        replay(strange)
    assert main(["replay", str(tmp_path / "nowhere")]) == 2
    assert "there is no bag" in capsys.readouterr().err


def test_another_machine_is_compared_with_a_tolerance(tmp_path, capsys):
    machine = {"cpu": "z80", "machine": "x", "numba": "0.1", "llvmlite": "0.2"}
    run = begin(tmp_path / "bag", machine=machine)
    run.run(5, wavy)
    report = replayed(run)
    assert report.is_same
    assert report.tolerance == 1e-6
    assert "cpu z80 (here " in report.notes[0]
    assert main(["replay", str(tmp_path / "bag"), "--tolerance", "1e-9"]) == 0
    assert "same within 1e-09" in capsys.readouterr().out


def test_gravity_that_changed_is_followed(tmp_path):
    import json

    run = begin(tmp_path / "bag")
    words = json.loads(_setup_text(run))
    run.run(10, wavy)
    words["stamp_ns"], words["parameters"]["gravity"] = run.stamp, [0.0, 1.0, -3.7]
    run.publish("simulation_setup", String(data=json.dumps(words)))
    run.sim.integrator.gravity[:] = [0.0, 1.0, -3.7]
    run.run(10, wavy)
    report = replayed(run)
    assert report.is_same, report.difference


def change(run, **parameters):
    """Say, as physics does, that parameters changed."""
    import json

    words = {**json.loads(_setup_text(run)), "stamp_ns": run.stamp, "changed": list(parameters)}
    words["parameters"] |= parameters
    run.publish("simulation_setup", String(data=json.dumps(words)))


def test_friction_that_changed_is_followed(tmp_path):
    run = begin(tmp_path / "bag", HOPPER, "initial_states: {home: {base: {xyz: [0, 0, 0.051]}}}", terrain="flat")
    run.run(60, wavy)
    change(run, friction=0.01)
    change_friction(run.sim, 0.01)
    run.run(60, wavy)
    assert any(report.penetration > 0.0 for report in run.sim.contacts()), "it stands"
    report = replayed(run)
    assert report.is_same, report.difference


def test_a_coupling_by_parameter_is_followed(tmp_path):
    run = begin(tmp_path / "bag")
    run.run(10, wavy)
    change(run, coupling="both")
    run.answer(wavy(run.sim))
    assert run.intake.couple("both") == ""
    run.advance()
    run.run(10, wavy)
    report = replayed(run)
    assert report.is_same, report.difference
    assert report.notes == []


def _setup_text(run):
    from mbsim_ros.bags.formats.cdr import string_message

    run.writer.flush()
    *_, message = BagReader(run.writer.folder).messages(["/arm/simulation_setup"])
    return string_message(message.data)


def test_async_says_what_it_does_not_know(tmp_path):
    run = begin(tmp_path / "bag", sync="async")
    run.run(20, wavy)
    run.publish("coupling_command", String(data="both"))
    run.publish("wrench", wrench(0, "lower_rod"))
    notes = " ".join(replayed(run).notes)
    assert "async mode" in notes
    assert "1 coupling commands had no stamp" in notes
    assert "1 wrenches" in notes


def test_a_wrench_that_answers_is_exact(tmp_path):
    """Of a participant that pushes a link, and of one that commands the joints: bit for bit."""
    run = begin(tmp_path / "bag", lockstep_participants=["controller", "wrench"])
    for _ in range(100):
        push = wrench(run.stamp, "lower_rod")
        push.wrench.force.x = 5.0 * float(run.sim.v[0]) - 3.0
        late = run.stamp + PERIOD if run.stamp % 3 else run.stamp  # a recorder may hear of it after the next state
        run.publish("wrench", push, late)
        push.wrench.force.x = 100.0
        run.publish("wrench", push, late)  # a second answer to the same state does not act
        run.answer(wavy(run.sim))
        force = (5.0 * float(run.sim.v[0]) - 3.0, 0.0, 0.0)
        run.sim.push("lower_rod", force, (0.0, 0.0, -2.5))
        run.advance()
    report = replayed(run)
    assert report.is_same, report.difference
    assert report.notes == []


def test_async_without_commands_is_exact(tmp_path):
    run = begin(tmp_path / "bag", sync="async")
    for _ in range(20):
        run.advance()
    report = replayed(run)
    assert report.is_same
    assert report.notes == []


def test_a_bag_that_was_cut_off_is_replayed_as_far_as_it_goes(tmp_path):
    run = begin(tmp_path / "bag")
    run.run(20, wavy)
    run.writer.flush()
    (report,) = replay(run.writer.folder)
    assert report.is_same
    assert (report.states, len(report.notes)) == (21, 1)


def test_a_run_of_python_with_mesh_feet_is_saved_and_replayed_without_its_mesh(tmp_path):
    (tmp_path / "foot.obj").write_text("v 0 0 0\nv 0.2 0 0\nv 0 0.2 0\nv 0 0 0.1\n")
    robot = HOPPER.replace('<box size="0.2 0.2 0.1"/>', '<mesh filename="foot.obj"/>')
    (tmp_path / "hopper.urdf").write_text(robot)
    sim = Simulation(tmp_path / "hopper.urdf", terrain="flat")
    sim.run(0.05, record=True).save_bag(tmp_path / "bag")
    (tmp_path / "foot.obj").unlink()
    with pytest.warns(UrdfWarning, match="mesh not found"):
        (report,) = replay(tmp_path / "bag")
    assert report.is_same and report.states > 10, report.difference
