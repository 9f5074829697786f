# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Bodies that collide in free space: momentum to rounding, restitution, friction that turns, a block that is thrown."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros import ModelBuilder, Simulation
from mbsim_ros.contact.modes import ContactMode

BLOCK = 1.8  # kg


def two_bodies(shapes=("box", "box"), masses=(2.0, 0.7)):
    """Bodies "a" and "b" that fly freely, each a box or a sphere."""
    sizes = {"box": {"box": (0.3, 0.2, 0.24)}, "sphere": {"sphere": 0.12}}
    builder = ModelBuilder("two").link("world")
    for name, shape, mass in zip("ab", shapes, masses, strict=True):
        builder.link(name, mass=mass, collision=True, **sizes[shape])
        builder.joint(f"{name}_flight", "floating", "world", name)
    return builder.build()


def flying(model, contact, dt=1e-3, **options):
    """b before a, off its centre; a flies towards it, both spin."""
    sim = Simulation(model, dt, gravity=(0, 0, 0), contact=contact, body_contact="all", **options)
    q, v = model.neutral.copy(), np.zeros(12)
    q[7:10] = 0.42, 0.06, 0.05
    v[:6] = 1.5, 0.1, -0.1, 2.0, -5.0, 4.0
    v[6:] = -0.4, 0.05, 0.1, -3.0, 1.0, 6.0
    sim.reset(q, v)
    return sim


@pytest.mark.parametrize("quadrature", ["midpoint", "trapezoidal"])
@pytest.mark.parametrize(
    "shapes",
    [("sphere", "sphere"), ("sphere", "box"), ("box", "sphere"), ("box", "box")],
    ids=lambda shapes: " and ".join(shapes),
)
def test_total_momentum_is_kept_over_a_collision(shapes, quadrature):
    model = two_bodies(shapes)
    sim = flying(model, {"max_penetration": 0.002, "damping_ratio": 0.2, "friction": 0.5}, quadrature=quadrature)
    start, spins, met = sim.momentum(), sim.v[[3, 4, 5, 9, 10, 11]], set()
    for _ in range(400):
        sim.step()
        met |= {report.mode for report in sim.contacts()}
        assert np.abs(sim.momentum() - start).max() < 1e-12 * np.abs(start).max()
    assert ContactMode.SLIDING in met
    assert all(report.mode is ContactMode.NO_CONTACT for report in sim.contacts())
    assert np.linalg.norm(sim.v[6:9]) > 0.5
    assert np.abs(sim.v[[3, 4, 5, 9, 10, 11]] - spins).max() > 0.5  # off-centre: the spins change, too
    books = sim.ledger()
    assert books.contact_dissipated > 0.0 and books.contact_friction > 0.0
    assert books.relative_residue < 2e-3


@pytest.mark.parametrize(
    ("ratio", "least", "most"), [(0.0, 0.98, 1.02), (0.1, 0.6, 0.8), (0.5, 0.1, 0.35), (1.0, 0.0, 0.2)]
)
def test_the_damping_ratio_decides_how_fast_bodies_part(ratio, least, most):
    """Head on, without spin: e = exp(−πζ/√(1−ζ²)) of a damped spring, a little more as the damper fades in and out."""
    model = two_bodies(("sphere", "sphere"), (1.0, 1.0))
    sim = Simulation(
        model, 2e-4, gravity=(0, 0, 0), contact={"max_penetration": 0.002, "damping_ratio": ratio}, body_contact="all"
    )
    q, v = model.neutral.copy(), np.zeros(12)
    q[7], v[0], v[6] = 0.3, 1.0, -0.5
    sim.reset(q, v)
    sim.advance(2500)
    parted = (sim.v[6] - sim.v[0]) / 1.5
    assert least <= parted <= most
    assert np.abs(sim.v[[1, 2, 3, 4, 5, 7, 8, 9, 10, 11]]).max() < 1e-12
    assert sim.v[0] + sim.v[6] == pytest.approx(0.5, abs=1e-12)


def test_equal_elastic_spheres_exchange_their_velocities():
    model = two_bodies(("sphere", "sphere"), (1.3, 1.3))
    sim = Simulation(
        model, 1e-4, gravity=(0, 0, 0), contact={"damping_ratio": 0.0, "friction": 0.0}, body_contact="all"
    )
    q, v = model.neutral.copy(), np.zeros(12)
    q[7], v[0], v[6] = 0.3, 0.8, -0.3
    sim.reset(q, v)
    sim.advance(6000)
    np.testing.assert_allclose(sim.v[[0, 6]], [-0.3, 0.8], atol=2e-3)
    assert sim.energy().kinetic == pytest.approx(0.5 * 1.3 * (0.8**2 + 0.3**2), rel=3e-3)


def crawler_and_block():
    """The crawler's body and legs, and a block that flies beside it."""
    builder = ModelBuilder("thrown").link("world").link("body", mass=4.0, box=(0.4, 0.2, 0.1), collision=True)
    builder.joint("body_flight", "floating", "world", "body")
    for leg, x, y in (("fl", 0.2, 0.1), ("fr", 0.2, -0.1), ("rl", -0.2, 0.1), ("rr", -0.2, -0.1)):
        builder.link(f"shank_{leg}", mass=0.4, com=(0, 0, -0.12), box=(0.03, 0.03, 0.24))
        builder.joint(leg, "continuous", "body", f"shank_{leg}", xyz=(x, y, 0.0), axis=(0, 1, 0), damping=0.05)
    builder.link("block", mass=BLOCK, box=(0.1, 0.1, 0.1), collision=True)
    builder.joint("block_flight", "floating", "world", "block")
    return builder.build()


def put(sim, joint, xyz, twist=(0, 0, 0, 0, 0, 0)):
    """Place a body that flies, and give it a velocity."""
    place, q, v = next(each for each in sim.model.joints if each.name == joint), sim.q, sim.v
    q[place.iq : place.iq + 3] = xyz
    v[place.iv : place.iv + 6] = twist
    sim.reset(q, v)
    return slice(place.iq, place.iq + 3), slice(place.iv, place.iv + 6)


def test_a_block_thrown_at_a_floating_robot():
    """1.8 kg at 4 m/s against a robot with legs: total momentum stays, the robot gets what the block loses."""
    sim = Simulation(
        crawler_and_block(), gravity=(0, 0, 0), contact={"damping_ratio": 0.4}, body_contact=[("block", "body")]
    )
    _, block = put(sim, "block_flight", (0.02, 0.5, 0.03), (0.3, -4.0, 0.2, 3.0, -2.0, 1.0))
    _, body = put(sim, "body_flight", (0, 0, 0))
    start, most, touched = sim.momentum(), 0.0, set()
    for _ in range(400):
        sim.step()
        most = max(most, np.abs(sim.momentum() - start).max())
        touched |= {(report.link, report.other) for report in sim.contacts() if report.is_touching}
    assert most < 1e-12 * np.abs(start).max()
    assert touched and touched <= {("block", "body"), ("body", "block")}
    assert sim.v[body][1] < -0.3  # the body flies off …
    assert sim.v[block][1] > -2.0
    legs = [joint.iv for joint in sim.model.joints if joint.nv == 1]
    assert np.abs(sim.v[legs]).max() > 0.1  # … its legs swing …
    books = sim.ledger()
    assert books.contact_dissipated > 1.0 and books.damping < 0.0  # … and the books are in order
    assert books.relative_residue < 2e-3


def test_a_block_thrown_at_a_box_on_the_ground():
    """What the two together gain is what the ground and gravity gave, step by step."""
    builder = ModelBuilder("yard").link("world").link("box", mass=6.0, box=(0.3, 0.3, 0.2), collision=True)
    builder.joint("box_flight", "floating", "world", "box")
    builder.link("block", mass=BLOCK, box=(0.1, 0.1, 0.1), collision=True)
    builder.joint("block_flight", "floating", "world", "block")
    dt = 1e-3
    sim = Simulation(builder.build(), dt, terrain="flat", contact={"friction": 0.6}, body_contact="all")
    box, _ = put(sim, "box_flight", (0, 0, 0.1))
    put(sim, "block_flight", (-0.5, 0.02, 0.15), (4.0, 0.0, 0.5, 0.0, 0.0, 0.0))
    linear, met = sim.momentum()[:3], False
    weight = np.array([0.0, 0.0, -9.81 * (6.0 + BLOCK)])
    for _ in range(600):
        sim.step()
        reports = sim.contacts()
        linear = linear + dt * (sum(report.force for report in reports if report.other == "") + weight)
        met = met or any(report.is_touching for report in reports if report.other)
        assert np.abs(sim.momentum()[:3] - linear).max() < 1e-11 * (6.0 + BLOCK)
    assert met
    x, _, z = sim.q[box]
    assert x > 0.01 and z == pytest.approx(0.1, abs=2e-3)
