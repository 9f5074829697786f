# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Laws along the normal: found by their files, with honest derivatives and energies, and as they were published."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbsim_ros import ModelBuilder, Simulation
from mbsim_ros.contact.law_kernel import normal_force, spring_energy, spring_work
from mbsim_ros.contact.law_registry import LAWS, law_number, law_parameters
from mbsim_ros.contact.layout import (
    BN,
    BT,
    FADE_DEPTH,
    KN,
    KT,
    LAW,
    LAW_PARAMETER,
    MU_DYNAMIC,
    MU_STATIC,
    PARAMETER_COLUMNS,
    REST_DEPTH,
    STICK_SPEED,
)
from mbsim_ros.integrators.errors import UnsupportedModel
from mbsim_ros.kernel_cache.sources import source_hash

ROOT = Path(__file__).resolve().parents[2]
G = 9.81


def parameters_of(law: str) -> np.ndarray:
    values = np.zeros(PARAMETER_COLUMNS)
    values[[KN, BN, FADE_DEPTH, REST_DEPTH]] = 5e4, 600.0, 5e-4, 1e-3
    values[LAW] = law_number(law)
    own = law_parameters(law, {})
    values[LAW_PARAMETER : LAW_PARAMETER + len(own)] = own
    values.setflags(write=False)
    return values


@pytest.mark.parametrize("law", LAWS)
def test_forces_push_are_continuous_and_have_the_derivatives_they_say(law):
    parameters, e, rng = parameters_of(law), 1e-8, np.random.default_rng(3)
    assert normal_force(parameters, 0.0, 1.0) == normal_force(parameters, -1e-3, 1.0) == (0.0, 0.0, 0.0)
    assert normal_force(parameters, 1e-12, 1.0)[0] < 1e-4
    for depth, rate in zip(rng.uniform(1e-5, 3e-3, 200), rng.uniform(-0.5, 0.5, 200), strict=True):
        f, by_depth, by_rate = normal_force(parameters, depth, rate)
        assert f >= 0.0 and by_rate >= 0.0
        if f > 0.0 and abs(depth - parameters[FADE_DEPTH]) > 1e-6:
            up, down = normal_force(parameters, depth + e, rate)[0], normal_force(parameters, depth - e, rate)[0]
            assert by_depth == pytest.approx((up - down) / (2 * e), rel=1e-5, abs=1e-2)
            up, down = normal_force(parameters, depth, rate + e)[0], normal_force(parameters, depth, rate - e)[0]
            assert by_rate == pytest.approx((up - down) / (2 * e), rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("law", LAWS)
def test_the_spring_holds_what_it_took(law):
    parameters, depths, h = parameters_of(law), np.linspace(0.0, 2e-3, 20_001), 1e-4
    middle, rate = 0.5 * (depths[1:] + depths[:-1]), (depths[1] - depths[0]) / h
    taken = sum(spring_work(parameters, h, depth, rate) for depth in middle)
    assert spring_energy(parameters, depths[-1]) == pytest.approx(taken, rel=1e-7)
    assert spring_energy(parameters, -1e-3) == 0.0


def ball(**options):
    """A ball of 1 kg with one contact point."""
    made = ModelBuilder("ball").link("ball", mass=1.0, sphere=0.1, collision=True).build("floating")
    return Simulation(made, terrain="flat", **options)


@pytest.mark.parametrize("dissipation", [0.0, 0.3])
def test_hunt_and_crossleys_impact_is_that_of_their_equation(dissipation):
    settings = {"law": "hunt_crossley", "law_parameters": {"dissipation": dissipation}, "max_penetration": 1e-4}
    sim = ball(dt=1e-5, gravity=(0, 0, 0), contact=settings)
    sim.reset(q=[0, 0, 0.1 + 1e-9, 0, 0, 0, 1], v=[0, 0, -0.5, 0, 0, 0])
    K = sim.scene.contact.stiffness / np.sqrt(sim.scene.contact.max_penetration)

    def motion(_, state):
        depth, rate = max(state[0], 0.0), state[1]
        return rate, -max(K * depth**1.5 * (1.0 + 1.5 * dissipation * rate), 0.0)

    def is_out(t, state):
        return state[0] + (1e-12 if t < 1e-5 else 0.0)

    is_out.terminal, is_out.direction = True, -1
    truth = solve_ivp(motion, (0.0, 1.0), (0.0, 0.5), rtol=1e-11, atol=1e-15, events=is_out)
    sim.run(1.5 * truth.t[-1] + 1e-4)
    assert sim.v[2] == pytest.approx(-truth.y[1, -1], rel=1e-4)
    assert sim.v[2] / 0.5 == pytest.approx(1.0 - dissipation * 0.5, abs=0.03)  # 1 − c v, to first order in c v
    assert abs(sim.ledger().residue) < 1e-12


def test_every_law_carries_a_ball_at_the_same_depth():
    for law in LAWS:
        sim = ball(contact={"law": law})
        sim.reset(q=[0, 0, 0.1, 0, 0, 0, 1])
        sim.run(3.0)
        (point,) = sim.contacts()
        assert point.force[2] == pytest.approx(G, rel=1e-6), law
        assert point.penetration == pytest.approx(1e-3, rel=1e-4), law


def test_a_law_is_refused_by_name_scheme_and_number():
    with pytest.raises(ValueError, match="no law named 'hunt_crosley': did you mean 'hunt_crossley'"):
        ball(contact={"law": "hunt_crosley"})
    with pytest.raises(ValueError, match="'hunt_crossley': no parameter named 'disipation'"):
        ball(contact={"law": "hunt_crossley", "law_parameters": {"disipation": 1.0}})
    with pytest.raises(UnsupportedModel, match="the contact law 'wendlandt': use 'quaternion_variational'"):
        ball(contact={"law": "wendlandt"})
    with pytest.raises(UnsupportedModel, match="the contact law 'wendlandt': use 'quaternion_variational'"):
        ball(contact={"links": {"ball": {"law": "wendlandt"}}})
    mixed = {"links": {"ball": {"law": "hunt_crossley"}}}
    with pytest.raises(UnsupportedModel, match="hunt_crossley of some links beside W's of others"):
        ball(contact=mixed, integrator="quaternion_variational")
    ball(contact={"law": "wendlandt"}, integrator="quaternion_variational").run(0.01)


def test_a_snapshot_knows_the_law():
    one, other = ball(contact={"law": "hunt_crossley"}), ball()
    with pytest.raises(ValueError, match="contact parameters"):
        other.restore(one.snapshot())
    assert ball(contact={"law": "spring_damper"}).identity == other.identity
    own, inside = (ball(contact=law, integrator="quaternion_variational") for law in (None, {"law": "spring_damper"}))
    with pytest.raises(ValueError, match="contact parameters"):  # where nothing is said it has W's machine
        inside.restore(own.snapshot())


NEWCOMER = """
import sys
import mbsim_ros.contact.laws
mbsim_ros.contact.laws.__path__.append(sys.argv[1])
from pathlib import Path
from mbsim_ros import ModelBuilder, Simulation
from mbsim_ros.kernel_cache.sources import source_hash
from mbsim_ros.nodes.physics.parameters import PARAMETERS
import mbsim_ros.contact.contact_kernel as kernel
ball = ModelBuilder("ball").link("ball", mass=1.0, sphere=0.1, collision=True).build("floating")
sim = Simulation(ball, dt=2e-4, terrain="flat", contact={"law": "hardening"}, gravity=(0, 0, 0))
sim.reset(q=[0, 0, 0.1, 0, 0, 0, 1], v=[0, 0, -0.5, 0, 0, 0])
sim.run(0.05)
print(sim.v[2], source_hash(Path(kernel.__file__)))
assert any("hardening" in each.choices for each in PARAMETERS if each.name == "contact_law")
sys.path.append(sys.argv[2])
import capability_table
assert "| `hardening` |" in capability_table.law_table()
"""


def test_a_new_file_is_a_new_law(tmp_path):
    """The file of docs/contact.md, as a newcomer would put it beside the others; kernels as plain Python, so at once."""
    ((name, text),) = re.findall(
        r"```python\n# mbsim_ros/contact/laws/(\S+)\n(.*?)```", (ROOT / "docs/contact.md").read_text(), re.S
    )
    (tmp_path / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", NEWCOMER, str(tmp_path), str(ROOT / "docs")], capture_output=True, text=True,
        env={"NUMBA_DISABLE_JIT": "1", "PATH": "", "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    speed, made_of = done.stdout.split()
    assert float(speed) == pytest.approx(0.5, rel=2e-3)  # nothing is lost
    # kernels that choose among the laws are compiled anew when there is another
    assert made_of != source_hash(ROOT / "mbsim_ros/contact/contact_kernel.py")


def test_links_and_pairs_have_numbers_of_their_own():
    feet = ModelBuilder("two").link("body", mass=2.0, box=(0.2, 0.1, 0.1))
    for k, name in enumerate(("left", "right")):
        feet = feet.joint(f"to_{name}", "fixed", "body", name, xyz=(0.2 * k - 0.1, 0.0, -0.1)).link(
            name, mass=0.1, sphere=0.02, collision=True
        )
    given = {
        "friction": 0.5, "tangential_stiffness": 9e3, "tangential_damping": 40.0, "stick_speed": 0.01,
        "links": {"left": {"friction_static": 0.9, "friction_dynamic": 0.8, "stiffness": 7e3}},
        "pairs": {"right left": {"friction": 0.1}},
    }  # fmt: skip
    sim = Simulation(feet.build("floating"), terrain="flat", contact=given)
    law = sim.scene.contact
    left, right = law.rows(["left", "right"])
    assert (left[MU_STATIC], left[MU_DYNAMIC], left[KN], left[KT], left[BT]) == (0.9, 0.8, 7e3, 9e3, 40.0)
    assert (right[MU_STATIC], right[MU_DYNAMIC], right[KT], right[STICK_SPEED]) == (0.5, 0.5, 9e3, 0.01)
    assert right[KN] == law.stiffness != 7e3
    assert law.of_pair("left", "right").friction_static == law.of_pair("right", "left").friction_static == 0.1
    assert law.of_pair("left", "body").friction_static == 0.5  # the lower one of the two
    with pytest.raises(ValueError, match="contact parameters"):
        Simulation(sim.model, terrain="flat", contact={**given, "links": {}}).restore(sim.snapshot())


def test_each_link_slides_by_its_own_friction():
    """A sledge with one rough and one smooth runner turns about the rough one."""
    sledge = ModelBuilder("sledge").link("body", mass=2.0, box=(0.2, 0.3, 0.02))
    for k, name in enumerate(("rough", "smooth")):
        for end, x in (("front", 0.1), ("back", -0.1)):
            sledge = sledge.joint(f"to_{name}_{end}", "fixed", "body", f"{name}_{end}", xyz=(x, 0.3 * k - 0.15, -0.05))
            sledge = sledge.link(f"{name}_{end}", mass=0.01, sphere=0.01, collision=True)
    links = {f"smooth_{end}": {"friction": 0.0} for end in ("front", "back")}
    turns = {}
    for own in ({}, links):
        sim = Simulation(sledge.build("floating"), terrain="flat", contact={"friction": 0.4, "links": own})
        sim.reset(q=[0, 0, 0.059, 0, 0, 0, 1], v=[1.0, 0, 0, 0, 0, 0])
        sim.run(0.1)
        turns[bool(own)] = sim.v[5]
    assert abs(turns[False]) < 1e-9
    assert turns[True] < -0.1  # the rough runner is on the right
