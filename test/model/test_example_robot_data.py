# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots in use, from the optional package example-robot-data: all that Pinocchio loads load here."""

import importlib.util
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros.model.problems import UrdfError
from mbsim_ros.model.urdf.parser import parse_urdf


def _robots_folder():
    """Folder of the robots: in the wheel's prefix, or in a ROS or system installation."""
    prefixes = [Path(entry) / "cmeel.prefix" for entry in sys.path]
    prefixes += [Path(sys.prefix), Path("/usr"), Path("/usr/local")]
    places = [prefix / "share" / "example-robot-data" / "robots" for prefix in prefixes]
    return next((place for place in places if place.is_dir()), None)


ROBOTS = _robots_folder()
FILES = sorted(ROBOTS.rglob("*.urdf")) if ROBOTS else []
NAMES = [str(path.relative_to(ROBOTS)) for path in FILES]
# A robot without a name and without links.
REFUSED = "ur_description/urdf/ur3.urdf"

pytestmark = pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")
with_pinocchio = pytest.mark.skipif(importlib.util.find_spec("pinocchio") is None, reason="pinocchio is not installed")


def _parse(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return parse_urdf(path)


def _joints_in_pinocchio_order(robot):
    """Movable joints depth first, siblings by name."""
    order, pending = [], list(reversed(robot.children_of(robot.root)))
    while pending:
        joint = pending.pop()
        order += [joint] if joint.type != "fixed" else []
        pending += reversed(robot.children_of(joint.child))
    return order


def test_there_are_enough_robots():
    assert len(FILES) >= 69


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_robot_loads_with_warnings_at_most(path):
    if str(path).endswith(REFUSED):
        with pytest.raises(UrdfError, match="missing robot name"):
            _parse(path)
        return
    robot = _parse(path)
    assert all(problem.severity == "warning" and problem.line > 0 for problem in robot.warnings)
    assert len(robot.joints) == len(robot.links) - 1


@with_pinocchio
@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_robot_is_what_pinocchio_reads(path):
    import pinocchio

    if str(path).endswith(REFUSED):
        with pytest.raises(ValueError):
            pinocchio.buildModelFromUrdf(str(path))
        return
    robot = _parse(path)
    model = pinocchio.buildModelFromUrdf(str(path))
    joints = _joints_in_pinocchio_order(robot)
    assert [joint.name for joint in joints] == list(model.names)[1:]
    X = _link_poses(robot)
    placed = pinocchio.Data(model)
    pinocchio.framesForwardKinematics(model, placed, pinocchio.neutral(model))
    for link in robot.links:
        frame = model.getFrameId(link.name, pinocchio.FrameType.BODY)
        np.testing.assert_allclose(placed.oMf[frame].homogeneous, X[link.name], atol=1e-11)
    expected = sum((placed.oMi[i].act(model.inertias[i]).matrix() for i in range(model.njoints)), np.zeros((6, 6)))
    np.testing.assert_allclose(_inertia_in_world(robot, X), expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


def _link_poses(robot):
    """Pose of every link with all joints at zero."""
    X = {robot.root.name: np.eye(4)}
    order = [robot.root.name]
    for name in order:
        for joint in robot.children_of(name):
            X[joint.child] = X[name] @ joint.origin.matrix()
            order.append(joint.child)
    return X


def _inertia_in_world(robot, X):
    """Spatial inertia (6x6, linear first) of the whole robot about the world's origin."""
    total = np.zeros((6, 6))
    for link in robot.links:
        if link.inertial:
            X_WC = X[link.name] @ link.inertial.origin.matrix()
            R, (x, y, z) = X_WC[:3, :3], X_WC[:3, 3]
            hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            m = link.inertial.mass
            turning = R @ link.inertial.inertia @ R.T + m * hat @ hat.T
            total += np.block([[m * np.eye(3), m * hat.T], [m * hat, turning]])
    return total
