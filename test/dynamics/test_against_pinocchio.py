# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Pinocchio as oracle: every robot of example-robot-data that it loads, fixed and floating, in random states.

Pinocchio takes mimic joints as free ones. There our q, v, a are expanded to its coordinates (G) and its results
reduced: Gᵀ tau, Gᵀ M G, J G, and forward dynamics from the reduced equations.
"""

from __future__ import annotations

import functools
import warnings
import zlib

import numpy as np
import pytest

from mbsim_ros.bench.cases import robots_folder
from mbsim_ros.bench.states import random_configuration, random_velocity
from mbsim_ros.dynamics import (
    MasslessJoint,
    centre_of_mass,
    centroidal_momentum,
    centroidal_momentum_matrix,
    forward_dynamics,
    forward_kinematics,
    frame_jacobian,
    generalised_momentum_and_gradient,
    inverse_dynamics,
    kinetic_energy,
    link_poses,
    mass_matrix,
    momentum,
    potential_energy,
)
from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.urdf.parser import parse_urdf

pin = pytest.importorskip("pinocchio")

ROBOTS = robots_folder()
pytestmark = pytest.mark.skipif(ROBOTS is None, reason="example-robot-data is not installed")
# A robot without a name and without links: neither loads it.
REFUSED = "ur_description/urdf/ur3.urdf"
FILES = sorted(str(file.relative_to(ROBOTS)) for file in ROBOTS.rglob("*.urdf")) if ROBOTS else []
LOADABLE = [file for file in FILES if file != REFUSED]
# Their eyes have no inertia: forward dynamics refuses them by name, everything else is compared.
MASSLESS = {"romeo_description/urdf/romeo.urdf", "romeo_description/urdf/romeo_laas_small.urdf"}
STATES = 20
TOLERANCE = 1e-10
JACOBIANS = 3  # links per state
REFERENCES = {
    "local": pin.ReferenceFrame.LOCAL,
    "world": pin.ReferenceFrame.WORLD,
    "local_world_aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}


class Pair:
    """One robot as both libraries see it, with random states."""

    def __init__(self, file, base):
        self.name = file
        self.ours = make_model(_description(file), base)
        floating = [pin.JointModelFreeFlyer()] if base == "floating" else []
        self.theirs = pin.buildModelFromUrdf(str(ROBOTS / file), *floating)
        self.data = self.theirs.createData()
        self.G = np.eye(self.theirs.nv) if self.ours.mimic is None else self.ours.mimic.matrix(self.ours.nv)
        self.rng = np.random.default_rng(zlib.crc32(f"{file} {base}".encode()))
        self.q = [random_configuration(self.ours, self.rng) for _ in range(STATES)]
        self.v, self.a, self.tau = ([random_velocity(self.ours, self.rng) for _ in range(STATES)] for _ in range(3))
        self.q_theirs = [self.ours.q_to_pinocchio(q) for q in self.q]
        self.wrenches = [self._random_wrenches() for _ in range(STATES)]

    def draw_again(self, state):
        """Another random configuration in place of one."""
        self.q[state] = random_configuration(self.ours, self.rng)
        self.q_theirs[state] = self.ours.q_to_pinocchio(self.q[state])

    def frame(self, link):
        """Number of Pinocchio's frame of a link."""
        return self.theirs.getFrameId(link, pin.FrameType.BODY)

    def forces(self, wrenches):
        """Wrenches by link as Pinocchio takes them: one per joint, in its frame."""
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero() for _ in range(self.theirs.njoints)])
        for link, wrench in wrenches.items():
            frame = self.theirs.frames[self.frame(link)]
            forces[frame.parentJoint] += frame.placement.act(pin.Force(wrench))
        return forces

    def bias(self, state):
        """Forces that keep every acceleration at zero, in our coordinates."""
        zero = np.zeros(self.theirs.nv)
        forces = self.forces(self.wrenches[state])
        tau = pin.rnea(self.theirs, self.data, self.q_theirs[state], self.G @ self.v[state], zero, forces)
        return self.G.T @ tau

    def M(self, state):
        return self.G.T @ pin.crba(self.theirs, self.data, self.q_theirs[state]) @ self.G

    def _random_wrenches(self):
        links = self.rng.choice(self.ours.link_names, size=min(4, len(self.ours.link_names)), replace=False)
        return {str(link): 10.0 * self.rng.normal(size=6) for link in links}


@functools.cache
def _description(file):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return parse_urdf(ROBOTS / file)


@pytest.fixture(
    scope="module", params=[(file, base) for file in LOADABLE for base in ("fixed", "floating")], ids=" ".join
)
def pair(request):
    return Pair(*request.param)


def assert_same(ours, theirs):
    """Norm-wise, over all states together."""
    ours, theirs = np.array(ours), np.array(theirs)
    assert ours.shape == theirs.shape
    assert len(ours) == STATES
    error, size = np.linalg.norm(ours - theirs), np.linalg.norm(theirs)
    assert error <= TOLERANCE * size, f"relative error {error / size:.2e}"


def test_every_robot_but_one_is_compared():
    assert len(FILES) == 69
    assert len(LOADABLE) == 68
    assert set(LOADABLE) >= MASSLESS
    with pytest.raises(ValueError):
        pin.buildModelFromUrdf(str(ROBOTS / REFUSED))


def test_coordinates(pair):
    assert pair.G.shape == (pair.theirs.nv, pair.ours.nv)
    assert all(len(q) == pair.theirs.nq for q in pair.q_theirs)


def test_kinematics(pair):
    links = pair.ours.link_names
    poses, twists, accelerations = [], [], []
    for q, v, a in zip(pair.q_theirs, pair.v, pair.a, strict=True):
        pin.forwardKinematics(pair.theirs, pair.data, q, pair.G @ v, pair.G @ a)
        pin.updateFramePlacements(pair.theirs, pair.data)
        frames = [pair.frame(link) for link in links]
        poses.append([pair.data.oMf[frame].homogeneous for frame in frames])
        twists.append([pin.getFrameVelocity(pair.theirs, pair.data, frame).vector for frame in frames])
        accelerations.append([pin.getFrameAcceleration(pair.theirs, pair.data, frame).vector for frame in frames])
    assert_same([[X[link] for link in links] for X in (link_poses(pair.ours, q) for q in pair.q)], poses)
    motions = [forward_kinematics(pair.ours, q, v, a) for q, v, a in zip(pair.q, pair.v, pair.a, strict=True)]
    assert_same([[motion.link_pose(link) for link in links] for motion in motions], poses)
    assert_same([[motion.link_twist(link) for link in links] for motion in motions], twists)
    assert_same([[motion.link_acceleration(link) for link in links] for motion in motions], accelerations)


def test_inverse_dynamics(pair):
    ours, theirs = [], []
    for k in range(STATES):
        q, v, a, wrenches = pair.q[k], pair.v[k], pair.a[k], pair.wrenches[k]
        ours.append(inverse_dynamics(pair.ours, q, v, a, wrenches=wrenches))
        forces = pair.forces(wrenches)
        tau = pin.rnea(pair.theirs, pair.data, pair.q_theirs[k], pair.G @ v, pair.G @ a, forces)
        theirs.append(pair.G.T @ tau)
    assert_same(ours, theirs)


def test_mass_matrix(pair):
    assert_same([mass_matrix(pair.ours, q) for q in pair.q], [pair.M(k) for k in range(STATES)])


def test_forward_dynamics(pair):
    """In states where M can be inverted to the tolerance; where it is nearly singular, the forces M a agree."""
    assert (pair.name in MASSLESS) == bool(massless_joints(pair))
    if massless_joints(pair):
        with pytest.raises(MasslessJoint, match="moves no inertia"):
            forward_dynamics(pair.ours, pair.q[0], pair.v[0], pair.tau[0])
        return
    ours, theirs = [], []
    for _ in range(2 * STATES):
        M = pair.M(len(ours))
        a_ours, a_theirs = accelerations(pair, len(ours), M)
        if is_nearly_singular(M):
            assert np.linalg.norm(M @ (a_ours - a_theirs)) <= TOLERANCE * np.linalg.norm(M @ a_theirs)
            pair.draw_again(len(ours))
        else:
            ours.append(a_ours)
            theirs.append(a_theirs)
        if len(ours) == STATES:
            break
    assert_same(ours, theirs)


def accelerations(pair, k, M):
    """Ours and Pinocchio's in a state."""
    v, tau, wrenches = pair.v[k], pair.tau[k], pair.wrenches[k]
    ours = forward_dynamics(pair.ours, pair.q[k], v, tau, wrenches=wrenches)
    if pair.ours.mimic is not None:
        return ours, np.linalg.solve(M, tau - pair.bias(k))
    return ours, pin.aba(pair.theirs, pair.data, pair.q_theirs[k], v, tau, pair.forces(wrenches)).copy()


def is_nearly_singular(M):
    """Whether M loses so many digits that two good algorithms differ by more than the tolerance.

    That is a matter of the robot: iCub's wrist has an inertia that is nearly zero about an axis.
    """
    if not M.size:
        return False
    scale = 1.0 / np.sqrt(np.diag(M))
    return np.linalg.eigvalsh(M * scale * scale[:, None])[0] < 3e-5


def test_jacobians(pair):
    links = list(pair.rng.choice(pair.ours.link_names, size=(STATES, JACOBIANS)))
    for name, reference in REFERENCES.items():
        ours = [
            [frame_jacobian(pair.ours, q, str(link), name) for link in some]
            for q, some in zip(pair.q, links, strict=True)
        ]
        theirs = [
            [pin.computeFrameJacobian(pair.theirs, pair.data, q, pair.frame(link), reference) @ pair.G for link in some]
            for q, some in zip(pair.q_theirs, links, strict=True)
        ]
        assert_same(ours, theirs)


def test_momentum(pair):
    if pair.ours.mass == 0.0:
        with pytest.raises(ValueError, match="no centre of mass"):
            centre_of_mass(pair.ours, pair.q[0])
        return
    about_centre, about_origin, matrices, centres = [], [], [], []
    for q, v in zip(pair.q_theirs, pair.v, strict=True):
        h = pin.computeCentroidalMomentum(pair.theirs, pair.data, q, pair.G @ v).vector.copy()
        about_centre.append(h)
        centres.append(pin.centerOfMass(pair.theirs, pair.data, q).copy())
        about_origin.append([*h[:3], *(h[3:] + np.cross(centres[-1], h[:3]))])
        matrices.append(pin.ccrba(pair.theirs, pair.data, q, pair.G @ v) @ pair.G)
    states = list(zip(pair.q, pair.v, strict=True))
    assert_same([momentum(pair.ours, q, v) for q, v in states], about_origin)
    assert_same([centroidal_momentum(pair.ours, q, v) for q, v in states], about_centre)
    assert_same([centroidal_momentum_matrix(pair.ours, q) for q in pair.q], matrices)
    assert_same([centre_of_mass(pair.ours, q) for q in pair.q], centres)


def test_generalised_momentum(pair):
    ours = [generalised_momentum_and_gradient(pair.ours, q, v).p for q, v in zip(pair.q, pair.v, strict=True)]
    assert_same(ours, [pair.M(k) @ pair.v[k] for k in range(STATES)])


def test_energy(pair):
    kinetic, potential = [], []
    for q, v in zip(pair.q_theirs, pair.v, strict=True):
        kinetic.append(pin.computeKineticEnergy(pair.theirs, pair.data, q, pair.G @ v))
        potential.append(pin.computePotentialEnergy(pair.theirs, pair.data, q))
    assert_same([kinetic_energy(pair.ours, q, v) for q, v in zip(pair.q, pair.v, strict=True)], kinetic)
    assert_same([potential_energy(pair.ours, q) for q in pair.q], potential)


def massless_joints(pair):
    """Joints that move nothing with inertia."""
    M = pair.M(0)
    return [number for number in range(len(M)) if M[number, number] == 0.0]
