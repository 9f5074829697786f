# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Laws of contact between entities: what sidecars and users say of it is what acts, against closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mbsim_ros import ModelBuilder, SidecarError, Simulation, load_urdf
from mbsim_ros.contact.parameters import derive_parameters
from mbsim_ros.contact.points import ContactWarning
from mbsim_ros.model.sidecar.settings import ContactSettings
from mbsim_ros.model.urdf.writer import to_urdf
from mbsim_ros.sim.scenes.contact_laws import contact_laws
from mbsim_ros.sim.surroundings.friction import change_friction

ROOT = Path(__file__).resolve().parents[2]
LIGHT, HEAVY, SPEED = 1.8, 45.0, 4.5
REDUCED = LIGHT * HEAVY / (LIGHT + HEAVY)
BOX = ModelBuilder("box").link("box", mass=1.0, box=(0.2, 0.2, 0.2), collision=True).build("floating")


def ball(name, mass):
    return ModelBuilder(name).link(name, mass=mass, sphere=0.1, collision=True).build("floating")


def with_sidecar(model, folder, text):
    """The model from files, with this sidecar."""
    (folder / f"{model.name}.urdf").write_text(to_urdf(model.description))
    (folder / f"{model.name}.mbsim.yaml").write_text(text)
    return load_urdf(folder / f"{model.name}.urdf", "floating", sidecar=folder / f"{model.name}.mbsim.yaml")


def rebound(light, heavy, contact=None, dt=1e-4):
    """The part of its speed with which a ball leaves another one that it hits in the middle, without gravity."""
    sim = Simulation({"heavy": heavy, "light": light}, dt, gravity=(0, 0, 0), terrain=False, contact=contact)
    start = {"heavy/base": [0, 0, 0, 0, 0, 0, 1], "light/base": [-0.25, 0, 0, 0, 0, 0, 1]}
    sim.reset(start, {"light/base": [SPEED, 0, 0, 0, 0, 0]})
    sim.run(0.1)
    after = sim.entity("heavy").v[0] - sim.entity("light").v[0]
    assert LIGHT * sim.entity("light").v[0] + HEAVY * sim.entity("heavy").v[0] == pytest.approx(LIGHT * SPEED)
    return after / SPEED


def of_ratio(ratio):
    """The same of a spring and a damper that may not pull: they part where the force is zero."""
    root = math.sqrt(1.0 - ratio * ratio)
    return math.exp(-ratio / root * (math.pi - math.atan2(2.0 * ratio * root, 1.0 - 2.0 * ratio * ratio)))


@pytest.mark.parametrize("ratio", [0.0, 0.2, 0.456])
def test_a_pair_rebounds_as_its_entry_says(ratio, tmp_path):
    entry = f"{{max_penetration: 0.001, damping_ratio: {ratio}}}"
    light = with_sidecar(ball("light", LIGHT), tmp_path, f"contact: {{pairs: {{light heavy/heavy: {entry}}}}}")
    found = rebound(light, ball("heavy", HEAVY))
    assert found == pytest.approx(of_ratio(ratio), abs=0.015)  # the damper fades in over the first half millimetre
    argument = {"pairs": {"heavy/heavy light/light": {"max_penetration": 0.001, "damping_ratio": ratio}}}
    assert rebound(ball("light", LIGHT), ball("heavy", HEAVY), argument) == found


def test_a_damping_that_is_given_is_not_scaled_by_masses():
    """For which of the two brings the stiffness is the heavier one."""
    stiffness, damping = 2.0e5, 300.0
    ratio = damping / (2.0 * math.sqrt(stiffness * REDUCED))
    contact = {"stiffness": stiffness, "damping": damping}
    found = rebound(ball("light", LIGHT), ball("heavy", HEAVY), contact, dt=2e-5)
    assert found == pytest.approx(of_ratio(ratio), abs=0.015)


def test_python_and_the_detection_combine_laws_alike():
    contact = {"damping_ratio": 0.3, "links": {"two/box": {"friction": 0.4}, "one/box": {"max_penetration": 5e-4}}}
    sim = Simulation({"one": BOX, "two": BOX}, contact=contact)
    sim.reset({"one/base": [0, 0, 0.1, 0, 0, 0, 1], "two/base": [0, 0, 0.2999, 0, 0, 0, 1]})
    sim.advance(1)
    one, two = (replace(sim.scene.contact.links[f"{name}/box"], fade_depth=0.0) for name in ("one", "two"))
    rows = sim.integrator.arrays.touches.now.parameters[: len(sim.integrator.shape_pairs())]
    assert len(rows) and one.stiffness != two.stiffness and one.friction_static != two.friction_static
    np.testing.assert_allclose(rows, np.tile(one.against(two).array(), (len(rows), 1)), rtol=1e-14)


def test_a_law_that_says_all_is_the_same_on_the_ground_of_a_scene(tmp_path):
    biped = load_urdf(ROOT / "urdf/biped.urdf.xacro")
    scene, alone = Simulation({"it": biped, "far": ball("far", 1.0)}), Simulation(biped)
    assert scene.scene.contact.links["it/left_foot"] == alone.scene.contact
    q = scene.q
    q[scene.entities["far"].in_q[:3]] = 5.0, 0.0, 1.0
    scene.reset(q, np.zeros(scene.model.nv))
    for sim in (scene, alone):
        sim.run(0.06)
    np.testing.assert_allclose(scene.entity("it").q, alone.q, rtol=0.0, atol=1e-7)  # to the tolerance where feet push
    with pytest.warns(ContactWarning, match="entity 'soft'.*lasts"):
        Simulation({"soft": ball("soft", 1.0), "far": BOX}, dt=0.004, contact={"max_penetration": 1e-4})


def test_pairs_that_are_wrong_or_not_there(tmp_path):
    entry = "{friction: 0.1}"
    lonely = with_sidecar(ball("lonely", 1.0), tmp_path, f"contact: {{pairs: {{lonely guest/box: {entry}}}}}")
    sim = Simulation({"lonely": lonely, "box": BOX})
    assert not sim.scene.contact.pairs  # nobody of that name
    sim.spawn("guest", BOX, q=[3, 0, 1, 0, 0, 0, 1])
    assert sim.scene.contact.pairs["guest/box", "lonely/lonely"].friction_static == 0.1
    change_friction(sim, 0.7)
    assert sim.scene.contact.pairs["guest/box", "lonely/lonely"].friction_static == 0.7
    assert (sim.integrator.arrays.touches.shapes.own_parameters[:, 4:6] == 0.7).all()
    with pytest.raises(
        ValueError, match=r"pair 'guest/box lonely' of 'lonely': 'guest' has no link 'box': it has ball"
    ):
        Simulation({"lonely": lonely, "guest": ball("ball", 1.0)})
    other = with_sidecar(BOX, tmp_path, "contact: {pairs: {box lonely/lonely: {friction: 0.2}}}")
    with pytest.raises(ValueError, match="in the sidecars of 'lonely' and 'guest', and they differ: keep one"):
        Simulation({"lonely": lonely, "guest": other})
    for pair in ("lonely guest", "guest/box", "a/b c/d", "lonely /box"):
        with pytest.raises(SidecarError, match=r"not a pair of links.*`a entity/b: \{…\}`"):
            with_sidecar(ball("lonely", 1.0), tmp_path, f"contact: {{pairs: {{{pair}: {entry}}}}}")
    with pytest.raises(ValueError, match="no link named 'box/bo' in the scene: did you mean 'box/box'"):
        Simulation({"lonely": lonely, "box": BOX}, contact={"pairs": {"lonely/lonely box/bo": {"friction": 0.1}}})


def test_links_of_the_argument_have_the_names_of_the_scene():
    contact = {"friction": 0.5, "links": {"one/box": {"friction": 0.9}}}
    laws = Simulation({"one": BOX, "two": BOX}, contact=contact).scene.contact.links
    assert (laws["one/box"].friction_static, laws["two/box"].friction_static) == (0.9, 0.5)
    finished = derive_parameters(1.0, 8, ContactSettings(stiffness=1e5, damping=10.0))
    models = {"one": BOX, "two": BOX}
    found = contact_laws(models, Simulation(models).model, finished, None, None, 9.81, 1e-3)
    assert found.links["two/box"] == finished
