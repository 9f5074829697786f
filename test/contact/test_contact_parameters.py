# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Stiffness and damping from what users give, and the check against the step."""

from __future__ import annotations

import math
import re

import pytest

from mbsim_ros.contact.parameters import ContactTooStiff, derive_parameters
from mbsim_ros.contact.terrain import floor
from mbsim_ros.model.sidecar.settings import ContactSettings


def test_derived_from_penetration_and_ratio():
    p = derive_parameters(12.0, 8, ContactSettings(max_penetration=2e-3, damping_ratio=0.5), support_points=4)
    assert p.stiffness == pytest.approx(12.0 * 9.81 / (4 * 2e-3))
    assert p.damping == pytest.approx(2 * 0.5 * math.sqrt(p.stiffness * 3.0))
    assert p.max_penetration == pytest.approx(2e-3)
    assert p.frequency == pytest.approx(math.sqrt(9.81 / 2e-3))
    assert (p.tangential_stiffness, p.tangential_damping) == (p.stiffness, p.damping)


def test_three_points_carry_a_robot_and_one_a_ball():
    assert derive_parameters(12.0, 8).point_mass == 4.0
    assert derive_parameters(12.0, 1).point_mass == 12.0


def test_given_stiffness_and_damping_override():
    p = derive_parameters(70.0, 8, ContactSettings(stiffness=75000.0, damping=2000.0, friction_dynamic=0.4))  # W 5.3
    assert (p.stiffness, p.damping, p.friction_static, p.friction_dynamic) == (75000.0, 2000.0, 0.4, 0.4)
    assert p.array().tolist()[:7] == [75000.0, 2000.0, 75000.0, 2000.0, 0.4, 0.4, 1e-3]
    assert "given" in str(p)


def test_friction_is_the_grounds_unless_the_robot_says():
    ground = floor(friction=(0.6, 0.5))
    assert derive_parameters(1.0, 1, None, ground).friction_dynamic == 0.5
    own = derive_parameters(1.0, 1, ContactSettings(friction_static=0.9, friction_dynamic=0.3), ground)
    assert (own.friction_static, own.friction_dynamic) == (0.9, 0.3)


def test_between_two_bodies_the_reduced_mass_is_damped():
    p = derive_parameters(6.0, 8).between(1.0, 3.0)
    assert p.point_mass == 0.75
    assert p.damping == pytest.approx(2.0 * math.sqrt(p.stiffness * 0.75))


def test_the_text_says_what_was_derived():
    text = str(derive_parameters(12.0, 8))
    assert re.search(r"stiffness 3\.924e\+04 N/m: 1 mm under 4 kg", text)
    assert "ratio 1" in text


def test_a_step_that_resolves_the_contact_passes():
    assert derive_parameters(5.0, 4).check_step(1e-3) is None


@pytest.mark.parametrize("depth, dt", [(1e-5, 1e-3), (4e-4, 1e-2), (1e-3, 9e-3)])
def test_a_coarse_step_is_warned_about_with_numbers_that_work(depth, dt):
    warning = derive_parameters(5.0, 4, ContactSettings(max_penetration=depth)).check_step(dt)
    found = re.search(r"dt ≤ (\S+) s, or max_penetration ≥ (\S+) m \(stiffness ≤ (\S+) N/m\)", warning)
    step, penetration, stiffness = map(float, found.groups())
    assert derive_parameters(5.0, 4, ContactSettings(max_penetration=depth)).check_step(step) is None
    assert derive_parameters(5.0, 4, ContactSettings(max_penetration=penetration)).check_step(dt) is None
    assert derive_parameters(5.0, 4, ContactSettings(stiffness=stiffness)).check_step(dt) is None


def test_a_step_that_could_double_the_energy_is_refused():
    p = derive_parameters(5.0, 4, ContactSettings(max_penetration=1e-6))
    with pytest.raises(ContactTooStiff, match="double its energy; use dt ≤"):
        p.check_step(1e-3)


@pytest.mark.parametrize(
    "words, call",
    [
        ("mass", lambda: derive_parameters(0.0, 4)),
        ("max_penetration", lambda: derive_parameters(1.0, 4, ContactSettings(max_penetration=-1.0))),
        ("stiffness", lambda: derive_parameters(1.0, 4, ContactSettings(stiffness=math.inf))),
        ("damping_ratio", lambda: derive_parameters(1.0, 4, ContactSettings(damping_ratio=-0.1))),
        (
            "friction_static",
            lambda: derive_parameters(1.0, 4, ContactSettings(friction_static=0.1, friction_dynamic=0.2)),
        ),
        ("support_points", lambda: derive_parameters(1.0, 4, support_points=0)),
        ("dt", lambda: derive_parameters(1.0, 4).check_step(math.nan)),
    ],
)
def test_bad_numbers_are_refused_by_name(words, call):
    with pytest.raises(ValueError, match=words):
        call()
