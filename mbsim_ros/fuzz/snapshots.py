# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Snapshots in files: taken back, and motion that is finite after it, or an error that says what is wrong."""

from __future__ import annotations

import io
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from mbsim_ros.fuzz.mutations import mutated_bytes, mutated_tree
from mbsim_ros.fuzz.seeds import HOPPER, PENDULUM
from mbsim_ros.fuzz.verdict import Case, refuse_bad_motion
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.snapshots.snapshot import Snapshot

ODD = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e100, 5e-324, 1e6, -1.0, 0.0)


class SnapshotCases:
    """Cases of files of snapshots, for a few simulations."""

    def __init__(self, folder: Path):
        self._file = folder / "fuzz.npz"
        pendulum, hopper = load_urdf(PENDULUM), load_urdf(HOPPER)
        self._sims = [
            Simulation(pendulum, coupling={"motors": {"winch": {"shoulder": 1.0, "elbow": -1.0}}}),
            Simulation(pendulum, integrator="quaternion_variational"),
            Simulation(hopper, terrain="flat"),
            Simulation(hopper, order=4, stops=False, terrain=False),
        ]
        for sim in self._sims[:3]:
            sim.push(sim.model.body_names[-1], (1.0, 0.0, 0.0))
        for sim in self._sims:
            sim.advance(5)
        self._whole = [sim.snapshot() for sim in self._sims]
        self._bytes = []
        for snapshot in self._whole:
            snapshot.save(self._file)
            self._bytes.append(self._file.read_bytes())

    def make(self, random: Random) -> Case:
        """A file with changed bytes, or one that is whole but says something else."""
        which = random.randrange(len(self._sims))
        if random.random() < 0.4:
            data = mutated_bytes(self._bytes[which], random)
        else:
            data = _changed(self._whole[which], random)
        return Case(f"a file of {len(data)} bytes for simulation {which}", lambda: self._use(which, data))

    def _use(self, which: int, data: bytes) -> None:
        sim = self._sims[which]
        self._file.write_bytes(data)
        try:
            sim.restore(Snapshot.load(self._file))
            refuse_bad_motion(sim)
        finally:
            sim.restore(self._whole[which])


def _changed(snapshot: Snapshot, random: Random) -> bytes:
    facts: object = snapshot.read_facts()
    arrays: dict[str, Any] = dict(snapshot.arrays)
    if random.random() < 0.4:
        facts = mutated_tree(facts, random)
    for _ in range(random.choice((0, 1, 1, 2, 5))):
        name = random.choice(sorted(arrays))
        arrays[name] = _changed_array(arrays[name], random)
        if random.random() < 0.1:
            arrays[random.choice(("odd", "engine.odd", "books"))] = arrays.pop(name)
    text = "[" * 5000 if random.random() < 0.02 else json.dumps(facts)
    stream = io.BytesIO()
    (np.savez_compressed if random.random() < 0.1 else np.savez)(stream, facts=np.array(text), **arrays)
    return stream.getvalue()


def _changed_array(array: np.ndarray, random: Random) -> np.ndarray:
    change = random.randrange(8)
    if change == 0:
        with np.errstate(all="ignore"):
            return array.astype(random.choice(("f4", "i8", "U9", "c16", ">f8", "u1", "?")))
    if change == 1:
        return array.ravel()[: random.randrange(array.size + 1)]
    if change == 2:
        return np.zeros(random.choice(((), (0,), (1,), (3, 3), (1000, 1000))))
    array = array.copy()
    if array.size:
        place = random.randrange(array.size)
        if array.dtype.kind == "f":
            array.flat[place] = (
                array.flat[place] * random.choice((-1.0, 2.0, 1e6)) if change == 3 else random.choice(ODD)
            )
        elif array.dtype == np.int64:
            array.flat[place] = random.choice((0, -1, 7, 2**31, 2**62, -(2**63)))
    return array
