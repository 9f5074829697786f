# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the state publisher sends, as typed messages in another process have it."""

from __future__ import annotations

from collections import defaultdict

import kinematics_oracle
import numpy as np
import pytest
import rclpy
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage
from topic_listener import listening, wait_for_match
from transforms3d.quaternions import quat2mat

from mbsim_ros.bench.states import random_configuration, random_velocity
from mbsim_ros.dynamics import forward_kinematics
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.nodes.frames import base_frames
from mbsim_ros.nodes.publishers.state_publisher import StatePublisher
from mbsim_ros.sim.joint_transforms import joint_transforms, joint_transforms_into
from mbsim_ros.sim.names import driven_joints

SECOND = 1_000_000_000
STAMPS = [0, 1, 999_999_999, SECOND, 1234 * SECOND + 567_891_234, (2**31 - 1) * SECOND + 999_999_999]


def gripper():
    """A fixed base whose root is `world`, a chain of fixed joints, a mimic joint."""
    builder = (
        ModelBuilder("gripper")
        .link("world")
        .link("post", mass=1.0, sphere=0.1)
        .link("arm", mass=1.0, box=(0.1, 0.1, 0.4))
    )
    builder.joint("bolt", "fixed", "world", "post", xyz=(0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6))
    builder.joint("lift", "continuous", "post", "arm", xyz=(0, 0, 0.2), axis=(0.6, 0.8, 0))
    builder.link("hand", mass=0.1, sphere=0.1).joint("wrist", "fixed", "arm", "hand", xyz=(0, 0, 0.4), rpy=(0, 0, 1))
    builder.link("palm", mass=0.1, sphere=0.1).joint("glue", "fixed", "hand", "palm", xyz=(0, 0.1, 0), rpy=(2, 0, 0))
    for finger, sign in (("left", 1.0), ("right", -1.0)):
        builder.link(finger, mass=0.2, box=(0.02, 0.02, 0.1))
        mimic = ("slide_left", -0.5, 0.01) if finger == "right" else None
        builder.joint(
            f"slide_{finger}", "prismatic", "palm", finger, xyz=(0, sign * 0.05, 0.1), axis=(0, 1, 0), lower=-1,
            upper=1, effort=9, velocity=9, mimic=mimic,
        )  # fmt: skip
    return builder.build()


ROBOTS = ["gripper", *(name for name in kinematics_oracle.NAMES if name not in ("talos", "tiago"))]


def robot(name):
    return gripper() if name == "gripper" else kinematics_oracle.robot(name)


@pytest.fixture
def make_node(ros_domain):
    """Makes nodes in a context of the test's own."""
    context = rclpy.Context()
    rclpy.init(context=context)
    nodes = []

    def make(**options):
        nodes.append(rclpy.create_node("publisher", context=context, **options))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    context.try_shutdown()


def pose(values):
    """(4, 4) of x, y, z, qx, qy, qz, qw."""
    X = np.eye(4)
    X[:3, :3] = quat2mat(np.roll(values[3:], 1))
    X[:3, 3] = values[:3]
    return X


def test_quaternions_of_turning_joints_never_jump():
    model = kinematics_oracle.robot("fixed_zoo")
    table = joint_transforms(model, model.joints, False)
    starts = 7 * np.arange(len(model.joints))
    before, turned = None, np.array(model.neutral)
    angles = [j.iq + j.nq - 1 for j in model.joints if j.type in ("revolute", "continuous", "planar")]
    for angle in np.linspace(-13.0, 13.0, 2000):
        turned[angles] = angle
        out = np.zeros(7 * len(model.joints))
        joint_transforms_into(*table, turned, starts, out)
        assert before is None or np.abs(out - before).max() < 0.01
        before = out


def by_topic(heard):
    found = defaultdict(list)
    for topic, message in heard:
        found[topic].append(message)
    return found


def transforms_by_child(messages, prefix):
    """Child frame → (parent, pose), of those whose child has the prefix; each child comes once."""
    found = {}
    for message in messages:
        for t in message["transforms"]:
            if t["child_frame_id"].startswith(prefix):
                assert t["child_frame_id"] not in found
                values = [*t["transform"]["translation"].values(), *t["transform"]["rotation"].values()]
                found[t["child_frame_id"]] = t["header"]["frame_id"], pose(np.array(values))
    return found


def pose_in(frame, transforms):
    """World pose of a frame from the transforms alone."""
    X = np.eye(4)
    while frame in transforms:
        frame, X_parent = transforms[frame]
        X = X_parent @ X
    assert frame == "world", "the tree has one root"
    return X


def nanoseconds(stamp):
    return stamp["sec"] * SECOND + stamp["nanosec"]


def test_the_state_of_many_robots_arrives_in_another_process(make_node, tmp_path):
    """One listener, every robot in its own namespace, one clock: TF composes to forward kinematics for every link."""
    topics = {"/tf": (TFMessage, False), "/tf_static": (TFMessage, True), "/clock": (Clock, False)}
    for name in ROBOTS:
        topics |= {f"/{name}/joint_states": (JointState, True), f"/{name}/odom": (Odometry, True)}
    rng, robots = np.random.default_rng(0), {name: robot(name) for name in ROBOTS}
    with listening(tmp_path / "heard", topics) as listener:
        publishers = {}
        for name, model in robots.items():
            node = make_node(namespace=f"/{name}")
            publishers[name] = StatePublisher(node, model, frame_prefix=f"{name}/", publish_clock=name == ROBOTS[0])
            wait_for_match(node, topics)
        expected, rounds = len(robots), {}  # each has something that does not move
        heard = listener.heard(expected)
        for stamp in STAMPS:
            for name, model in robots.items():
                state = random_configuration(model, rng), random_velocity(model, rng)
                effort = rng.normal(size=len(driven_joints(model)))
                publishers[name].publish(stamp, *state, effort)
                rounds[stamp, name] = (*state, effort)
                expected += 2 + model.is_floating + (name == ROBOTS[0])
                heard = listener.heard(expected)  # each is read before the next: latched topics keep only the last
        assert len(heard) == expected
    found = by_topic(heard)
    assert [nanoseconds(message["clock"]) for message in found["/clock"]] == STAMPS
    for name, model in robots.items():
        static = transforms_by_child(found["/tf_static"], f"{name}/")
        for k, stamp in enumerate(STAMPS):
            q, v, effort = rounds[stamp, name]
            check_tf(model, name, q, static, found["/tf"], stamp)
            check_joint_states(model, found[f"/{name}/joint_states"][k], stamp, q, v, effort)
            if model.is_floating:
                check_odometry(found[f"/{name}/odom"][k], stamp, q, v, name, model.description.root.name)
        assert model.is_floating or not found[f"/{name}/odom"]


def check_tf(model, name, q, static, messages, stamp):
    own = [m for m in messages if m["transforms"][0]["child_frame_id"].startswith(f"{name}/")]
    assert len(own) == len(STAMPS)
    (message,) = [m for m in own if nanoseconds(m["transforms"][0]["header"]["stamp"]) == stamp]
    assert {nanoseconds(t["header"]["stamp"]) for t in message["transforms"]} == {stamp}
    moving = transforms_by_child([message], f"{name}/")
    assert not set(moving) & set(static)
    kinematics = forward_kinematics(model, q)
    for link in model.link_names:
        X = pose_in(f"{name}/{link}", moving | static)
        np.testing.assert_allclose(X, kinematics.link_pose(link), rtol=0, atol=1e-12)


def check_joint_states(model, message, stamp, q, v, effort):
    joints = [joint for joint in model.joints if joint.nv == 1]
    assert nanoseconds(message["header"]["stamp"]) == stamp
    assert message["name"] == [joint.name for joint in joints]
    efforts = iter(effort)
    for joint, position, velocity, load in zip(
        joints, message["position"], message["velocity"], message["effort"], strict=True
    ):
        mimic = model.description.joint(joint.name).mimic
        if mimic is None:
            assert (position, velocity, load) == (q[joint.iq], v[joint.iv], next(efforts))
        else:
            leader = model.joint(mimic.joint)
            assert position == pytest.approx(mimic.multiplier * q[leader.iq] + mimic.offset, rel=1e-15)
            assert velocity == pytest.approx(mimic.multiplier * v[leader.iv], rel=1e-15)
            assert load == 0.0
    assert next(efforts, None) is None


def check_odometry(message, stamp, q, v, name, root):
    assert nanoseconds(message["header"]["stamp"]) == stamp
    assert (message["header"]["frame_id"], message["child_frame_id"]) == (f"{name}/odom", f"{name}/{root}")
    at, twist = message["pose"]["pose"], message["twist"]["twist"]
    assert [*at["position"].values(), *at["orientation"].values()] == q[:7].tolist()
    assert [*twist["linear"].values(), *twist["angular"].values()] == v[:6].tolist()
    for part in ("pose", "twist"):  # exact, but not zero, with which filters do not work
        np.testing.assert_array_equal(np.reshape(message[part]["covariance"], (6, 6)), 1e-9 * np.eye(6))


def test_a_stamp_that_comes_again_is_not_in_tf_again(make_node, tmp_path):
    """Default names; what was latched reaches a listener that starts later."""
    topics = {"/tf": (TFMessage, False), "/tf_static": (TFMessage, True), "/clock": (Clock, False)}
    topics |= {"/joint_states": (JointState, True), "/odom": (Odometry, True)}
    model, node = kinematics_oracle.robot("zoo"), make_node()
    publisher = StatePublisher(node, model)
    q, v, effort = model.neutral, np.zeros(model.nv), np.zeros(len(driven_joints(model)))
    publisher.publish(3, q, v, effort)
    with listening(tmp_path / "heard", topics) as listener:
        wait_for_match(node, topics)
        first = listener.heard(3)
        assert sorted(topic for topic, _ in first) == ["/joint_states", "/odom", "/tf_static"]
        publisher.publish(3, q, v, effort)
        again = listener.heard(6)[3:]
        assert sorted(topic for topic, _ in again) == ["/clock", "/joint_states", "/odom"]
        publisher.publish(4, q, v, effort)
        after = listener.heard(10)[6:]
        assert sorted(topic for topic, _ in after) == ["/clock", "/joint_states", "/odom", "/tf"]
    frames = {
        (t["header"]["frame_id"], t["child_frame_id"]) for topic, m in after if topic == "/tf" for t in m["transforms"]
    }
    assert ("odom", "base") in frames
    assert ("base", "a_hip") in frames
    with pytest.raises(ValueError, match="stamp_ns: expected 4 … .*, got 3"):
        publisher.publish(3, q, v, effort)


@pytest.mark.parametrize(
    ("name", "world", "odom", "prefix", "still", "moving", "at_rest"),
    [
        ("zoo", "world", "odom", "", [("world", "odom")], ("odom", "base"), "world"),
        ("zoo", "map", "odom", "some/", [("map", "some/odom")], ("some/odom", "some/base"), "map"),
        ("zoo", "", "odom", "some/", [], ("some/odom", "some/base"), "some/odom"),  # another node has its parent
        ("zoo", "world", "", "", [], ("world", "base"), "world"),
        ("zoo", "world", "world", "some/", [], ("world", "some/base"), "world"),
        ("zoo", "world", "a_hip", "", [], ("world", "base"), "world"),  # no frame has two parents
        ("fixed_zoo", "world", "odom", "", [("world", "base")], None, "world"),
        ("fixed_zoo", "", "odom", "", [], None, "base"),
        ("gripper", "world", "odom", "", [], None, "world"),
        ("gripper", "map", "odom", "", [("map", "world")], None, "map"),
    ],
)
def test_frames_of_the_base(name, world, odom, prefix, still, moving, at_rest):
    """A tree however they are named: world, odom, root, each with one parent."""
    frames = base_frames(robot(name), world, odom, prefix)
    assert frames.still == still
    assert frames.at_rest == at_rest
    assert moving in (None, (frames.odom, frames.root))


def published(node):
    return {publisher.topic_name for publisher in node.publishers} - {"/parameter_events", "/rosout"}


@pytest.mark.parametrize(
    ("name", "choice", "expected"),
    [
        ("zoo", "all", {"/tf", "/tf_static", "/odom"}),
        ("zoo", "base", {"/tf", "/tf_static", "/odom"}),
        ("zoo", "none", {"/odom"}),
        ("fixed_zoo", "base", {"/tf_static"}),
        ("fixed_zoo", "none", set()),
        ("gripper", "base", set()),
        ("gripper", "all", {"/tf", "/tf_static"}),
    ],
)
def test_publish_tf_decides_which_topics_there_are(make_node, name, choice, expected):
    node = make_node()
    StatePublisher(node, robot(name), publish_tf=choice, publish_clock=False)
    assert published(node) == {"/joint_states", *expected}


def test_a_root_named_as_the_world_frame_has_no_transform_of_its_own(make_node, tmp_path):
    node = make_node()
    with listening(tmp_path / "heard", {"/tf_static": (TFMessage, True)}) as listener:
        publisher = StatePublisher(node, gripper())
        wait_for_match(node, {"/tf_static"})
        ((_, message),) = listener.heard(1)
    assert publisher is not None
    frames = [(t["header"]["frame_id"], t["child_frame_id"]) for t in message["transforms"]]
    assert frames == [("world", "post"), ("arm", "hand"), ("hand", "palm")]


def test_mistakes_are_refused_by_name(make_node):
    model = kinematics_oracle.robot("zoo")
    with pytest.raises(ValueError, match="publish_tf: expected one of all, base, none, got 'some'"):
        StatePublisher(make_node(), model, publish_tf="some")
    with pytest.raises(ValueError, match="world_frame: expected another name than the floating base's, got 'base'"):
        base_frames(model, "base", "odom")
    with pytest.raises(ValueError, match="odom_frame: expected a name that no link has .* got 'base'"):
        base_frames(model, "", "base")
    publisher = StatePublisher(make_node(), model)
    good = {"q": model.neutral, "v": np.zeros(model.nv), "effort": np.zeros(len(driven_joints(model)))}
    for name in good:
        with pytest.raises(ValueError, match=f"{name}: expected shape"):
            publisher.publish(1, **{**good, name: np.zeros(1)})
    with pytest.raises(ValueError, match="stamp_ns"):
        publisher.publish(2**31 * SECOND, **good)
