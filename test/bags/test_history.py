# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Recorded runs as arrays: what stands in the bag, and what follows by computing it again."""

from __future__ import annotations

import numpy as np
import pytest
from hand_made_run import HOPPER, PERIOD, begin, wavy

from mbsim_ros.bags.bag_reader import BagError
from mbsim_ros.bags.history import read_history
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.sim.ledger import LEDGER_ENTRIES

STANDS = "contact: {max_penetration: 0.001}\ninitial_states: {home: {base: {xyz: [0, 0, 0.2]}}}\n"


def hop(folder, periods=150):
    """A box that falls on the floor, wagging its tail; returns q, modes and ledgers as they were."""
    run = begin(folder, HOPPER, STANDS)
    seen = [(run.sim.q.copy(), [r.mode for r in run.sim.contacts()], run.sim.ledger())]
    for _ in range(periods):
        run.run(1, wavy)
        seen.append((run.sim.q.copy(), [r.mode for r in run.sim.contacts()], run.sim.ledger()))
    run.writer.close()
    return seen


def test_contacts_and_ledger_are_those_of_the_run(tmp_path):
    seen = hop(tmp_path / "bag")
    history = read_history(tmp_path / "bag")
    assert history.notes == []
    assert history.namespace == "/arm"
    assert history.stamps.tolist() == [PERIOD * k for k in range(len(seen))]
    np.testing.assert_array_equal(history.q, [q for q, _, _ in seen])
    np.testing.assert_array_equal(history.contacts.modes, [modes for _, modes, _ in seen])
    assert {ContactMode.NO_CONTACT, ContactMode.STICKING} <= set(history.contacts.modes.ravel())
    np.testing.assert_array_equal(history.ledger, [list(ledger.as_dict().values()) for _, _, ledger in seen])
    assert len(history.ledger[0]) == len(LEDGER_ENTRIES)
    assert set(history.contacts.links) == {"body"}
    assert history.contacts.forces.shape == (len(seen), len(history.contacts.labels), 3)


def test_fewer_instants_are_some_of_all(tmp_path):
    hop(tmp_path / "bag")
    whole, some = read_history(tmp_path / "bag"), read_history(tmp_path / "bag", "arm", most=20)
    assert 10 < len(some.stamps) <= 20
    rows = np.searchsorted(whole.stamps, some.stamps)
    np.testing.assert_array_equal(some.q, whole.q[rows])
    np.testing.assert_array_equal(some.contacts.modes, whole.contacts.modes[rows])


def test_a_run_that_cannot_be_computed_again_has_what_was_recorded(tmp_path):
    run = begin(tmp_path / "bag", HOPPER, STANDS)
    run.run(5, wavy)
    run.sim.push("body", (50.0, 0.0, 0.0))  # nobody wrote that down
    run.run(40, wavy)
    run.writer.close()
    history = read_history(tmp_path / "bag")
    assert history.contacts is None
    assert history.ledger is None
    assert len(history.notes) == 1
    assert "could not be computed again" in history.notes[0]
    np.testing.assert_array_equal(history.position[:, 0], [position[0] for _, position in run.states])
    np.testing.assert_array_equal(history.q[-1], run.sim.q)


def test_resets_are_in_it(tmp_path):
    run = begin(tmp_path / "bag", HOPPER, STANDS)
    run.run(30, wavy)
    run.reset()
    run.run(30, wavy)
    run.writer.close()
    history = read_history(tmp_path / "bag")
    assert history.notes == []
    assert history.seconds[-1] > 1.0
    np.testing.assert_array_equal(history.q[:31], history.q[31:])


def test_motors_whose_coupling_is_in_the_sidecar(tmp_path):
    run = begin(tmp_path / "bag", coupling="both")
    run.run(3, lambda sim: None)
    run.writer.close()
    history = read_history(tmp_path / "bag")
    assert set(history.coupling) == {"both"}
    assert history.motor_effort is None  # none were recorded


@pytest.mark.parametrize("namespace", ["leg", "/ar"])
def test_another_robot_is_not_there(tmp_path, namespace):
    hop(tmp_path / "bag", 2)
    with pytest.raises(BagError, match="there are: /arm"):
        read_history(tmp_path / "bag", namespace)
