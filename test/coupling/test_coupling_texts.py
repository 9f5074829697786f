# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""Couplings that no sidecar has, as text: read as strictly as a sidecar, always the same text, the same D."""

from __future__ import annotations

import numpy as np
import pytest

from mbsim_ros.coupling.configuration import couple, named
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.problems import SidecarError
from mbsim_ros.model.sidecar.coupling_text import is_coupling_text, parse_coupling, split_command


@pytest.fixture(scope="module")
def pendulum():
    return load_urdf("urdf/double_pendulum.urdf")


def test_a_text_is_the_coupling_that_a_dict_is(pendulum):
    """Whether it is written as YAML or JSON; its name is one text, from which the same is read again."""
    known = named(pendulum)
    written = known["{motors: {drive: {shoulder: 1, elbow: -2}}, rotor_inertia: {drive: 0.1}}"]
    given = couple(pendulum, {"drive": {"shoulder": 1, "elbow": -2}}, rotor_inertia={"drive": 0.1})
    assert np.array_equal(written.D, given.D) and np.array_equal(written.rotor_inertia, given.rotor_inertia)
    assert written.name == '{"motors":{"drive":{"shoulder":1.0,"elbow":-2.0}},"rotor_inertia":{"drive":0.1}}'
    assert known[written.name].name == written.name and len(known) == len(list(known))
    assert is_coupling_text(written.name) and written.name in known and not any(map(is_coupling_text, known))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{motors: {drive: {sholder: 1}}}", "shoulder"),
        ("{motors: {drive: {shoulder: 0}}}", "ratio of zero"),
        ("{motors: {drive: {shoulder: .nan}}}", "number"),
        ("{motor: {drive: {shoulder: 1}}}", "motors"),
        ("{locked: [shoulder, shoulder]}", "twice"),
        ("{locked: [shoulder], motors: {drive: {shoulder: 1}}}", "driven and locked"),
        ("{locked: [base]}", "fixed already"),
        ("{locked: [elbow], torque_limit: {elbow: -1}}", "torque_limit"),
        ("{locked: [elbow], torque_limit: {shoulder: 1}}", "locks or drives"),
        ("{motors: {drive: {elbow: 1}}, torque_limit: {elbow: 1}}", "rotor inertia"),
        ("{motors: {drive: {elbow: 1}}, measured_from: {elbow: tip}}", "link"),
        ("{motors: {}", "YAML"),
        ("{" * 3000, ""),
    ],
)
def test_a_text_is_refused_with_the_reason(pendulum, text, words):
    """As an entry of a sidecar is, with what is meant."""
    with pytest.raises(ValueError, match="(?i)" + words):
        couple(pendulum, parse_coupling(text, pendulum.description))
    with pytest.raises(KeyError):
        named(pendulum)[text]


def test_a_stamp_follows_a_name_or_a_text():
    """Names inside a text may have an @."""
    assert split_command("normal@12") == ("normal", "12")
    assert split_command('{"motors":{"a@b":{"j":1}}}@34') == ('{"motors":{"a@b":{"j":1}}}', "34")
    assert split_command('{"motors":{"a@b":{"j":1}}}') == ('{"motors":{"a@b":{"j":1}}}', "")
    assert not split_command("{motors: {}} x")[1].isdecimal()


def test_every_problem_is_told(pendulum):
    """Two mistakes, two lines."""
    with pytest.raises(SidecarError) as problems:
        parse_coupling("{motors: {drive: {sholder: 1}}, locked: [elbo]}", pendulum.description)
    assert "sholder" in str(problems.value) and "elbo" in str(problems.value)
