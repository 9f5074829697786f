# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Snapshots that are damaged or made to harm are refused, and the simulation is as before."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
from sim_robots import crawler

from mbsim_ros import Simulation
from mbsim_ros.sim import Snapshot
from mbsim_ros.sim.snapshots.snapshot import make_snapshot


@pytest.fixture(scope="module")
def standing():
    sim = Simulation(crawler())
    sim.push("body", (0.5, 0.2, 0))
    sim.advance(100)
    return sim, sim.snapshot()


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("engine.state.q", lambda a: a * np.nan, "finite numbers"),
        ("engine.state.p", lambda a: a + np.inf, "finite numbers"),
        ("engine.state.p", lambda a: a + 1e200, "finite numbers"),
        ("engine.ledger", lambda a: a * np.nan, "finite numbers"),
        ("books", lambda a: a * np.nan, "finite numbers"),
        ("engine.state.q", lambda a: a[1:], r"shape \(.*\), got float64 of shape"),
        ("engine.state.q", lambda a: a.astype("f4"), "got float32"),
        ("engine.state.q", lambda a: np.where(np.arange(len(a)) == 6, 5.0, a), "unit quaternion"),
        ("engine.contact.modes", lambda a: a + 7, "modes of contact"),
        ("engine.counts", lambda a: -a - 1, "expected counts"),
        ("odd", lambda a: np.zeros(3), "odd"),
    ],
)
def test_arrays_that_cannot_be_a_state(standing, name, change, says):
    sim, whole = standing
    arrays = dict(whole.arrays)
    arrays[name] = change(arrays.get(name))
    with pytest.raises(ValueError, match=says):
        sim.restore(make_snapshot(whole.read_facts(), arrays))
    assert sim.snapshot() == whole


def test_an_array_that_is_missing(standing):
    sim, whole = standing
    arrays = {name: array for name, array in whole.arrays.items() if name != "engine.state.q"}
    with pytest.raises(ValueError, match=r"missing: engine\.state\.q"):
        sim.restore(make_snapshot(whole.read_facts(), arrays))


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"simulation": None}, "facts are damaged"),
        ({"coupling": None}, "facts are damaged"),
        ({"coupling": {"name": 3}}, "coupling is damaged"),
        ({"coupling": {"name": "a", "motors": [["a", {"b": float("nan")}]], "locked": [], "rotors": []}}, "coupling is damaged"),
        ({"pushes": {"body": [0.0, 0.0, 0.0, 0.0, 0.0, float("nan")]}}, "6 numbers"),
        ({"pushes": {"nobody": [0.0] * 6}}, "no link named 'nobody'"),
    ],
)  # fmt: skip
def test_facts_of_another_form(standing, facts, says):
    sim, whole = standing
    with pytest.raises(ValueError, match=says):
        sim.restore(make_snapshot({**whole.read_facts(), **facts}, dict(whole.arrays)))
    assert sim.snapshot() == whole


def test_files_that_say_to_be_larger_than_they_are(standing, tmp_path):
    """Neither packed zeros nor a header that promises a terabyte takes memory."""
    _, whole = standing
    file = tmp_path / "a.npz"
    np.savez_compressed(file, facts=np.array(whole.facts), zeros=np.zeros((1000, 1000)))
    with pytest.raises(ValueError, match="bytes that unpack to"):
        Snapshot.load(file)
    whole.save(file)
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }"
    content = b"\x93NUMPY\x01\x00" + len(header % 10**12).to_bytes(2, "little") + header % 10**12
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("large.npy", content)
    with pytest.raises(ValueError, match="an array of shape"):
        Snapshot.load(file)


def test_facts_that_are_nested_too_deep(tmp_path):
    np.savez(tmp_path / "a.npz", facts=np.array("[" * 100_000))
    with pytest.raises(ValueError, match="nested too deep"):
        Snapshot.load(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", facts=np.array(json.dumps([1])))
    with pytest.raises(ValueError, match="not a snapshot"):
        Snapshot.load(tmp_path / "b.npz")
