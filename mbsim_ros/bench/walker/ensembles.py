# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Ensembles of walkers as they are measured: ours, MuJoCo's rollouts, and what threads of the machine can do at all."""

from __future__ import annotations

import functools
import threading

import numba
import numpy as np

from mbsim_ros.bench.peers.mujoco import Settings
from mbsim_ros.bench.walker import case
from mbsim_ros.bench.walker.sides import DT, Fallen, MujocoWalker
from mbsim_ros.bench.walker.steps import CONTROL_STEPS, SETTLING
from mbsim_ros.contact.points import contact_points
from mbsim_ros.contact.terrain import floor
from mbsim_ros.ensemble.ensemble import Ensemble
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.snapshots.snapshot import Snapshot

SPIN = 20_000_000  # turns of a loop in a thread


@functools.cache
def targets() -> np.ndarray:
    """Targets of the motors (rows, 5) over one cycle of the gait."""
    return case.gait(CONTROL_STEPS * DT)


def make_walker(_member: int = 0) -> Simulation:
    """The walker of the suite `steps` as a simulation, standing where its gait begins."""
    model = case.walker()
    sim = Simulation(
        model, DT, coupling=case.five_motors(), contact_points=contact_points(model), terrain=floor(0.0, case.FRICTION)
    )
    sim.integrator.joints.damping[6:] = case.JOINT_DAMPING
    begin = targets()[-1]
    sim.reset(case.state_on_feet(begin), np.zeros(model.nv))
    sim.integrator.motor_position[6:] = begin
    sim.drive_motors(position=begin, velocity=np.zeros(5), kp=case.STIFFNESS, kd=case.DAMPING)
    return sim


@functools.cache
def settled() -> Snapshot:
    """A walker that has come to rest."""
    sim = make_walker()
    sim.advance(SETTLING)
    return sim.snapshot()


class OurWalkers:
    """An ensemble of walkers that walk on and on."""

    def __init__(self, n: int, threads: int, rows: int):
        def make(member: int) -> Simulation:
            sim = make_walker(member)
            sim.restore(settled())
            return sim

        self.ensemble = Ensemble(make, n, threads=threads)
        self.name = f"ours, {threads} thread{'s' * (threads > 1)}"
        self.steps = n * rows * CONTROL_STEPS  # of a round
        self._rows, self._next = rows, 0

    def run(self) -> None:
        """Walk for some rows of the gait; Fallen unless all do."""
        rows = np.arange(self._next, self._next + self._rows) % len(targets())
        self._next += self._rows
        motion = self.ensemble.rollout(targets()[rows], period=CONTROL_STEPS, every=self._rows * CONTROL_STEPS)
        if motion.failures or not (motion.q[:, -1, 2] > 0.9 * case.STANDING_HEIGHT).all():
            raise Fallen(f"{self.name}: {len(motion.failures)} failed, lowest at {motion.q[:, -1, 2].min():.3g} m")


class MujocoWalkers:
    """The same with mujoco.rollout."""

    def __init__(self, n: int, threads: int, rows: int, settings: Settings, coupled: bool):
        import mujoco

        self._walker = walker = MujocoWalker(settings, coupled)
        walker.reset(targets()[-1])
        walker.advance(SETTLING)
        model, data = walker.robot.model, walker.robot.data
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.empty(mujoco.mj_stateSize(model, kind))
        mujoco.mj_getState(model, data, state, kind)
        self._state, self._warm = np.tile(state, (n, 1)), np.tile(data.qacc_warmstart, (n, 1))
        self._data = [mujoco.MjData(model) for _ in range(threads)]
        self.name = f"{walker.name}, {threads} thread{'s' * (threads > 1)}"
        self.steps = n * rows * CONTROL_STEPS
        self._rows, self._next = rows, 0

    def run(self) -> None:
        """Walk for some rows of the gait; Fallen unless all do."""
        from mujoco import rollout

        rows = np.arange(self._next, self._next + self._rows) % len(targets())
        self._next += self._rows
        table = np.repeat(self._walker.command(targets()[rows]), CONTROL_STEPS, axis=0)[None]
        states, _ = rollout.rollout(
            self._walker.robot.model, self._data, self._state, table, initial_warmstart=self._warm, persistent_pool=True
        )
        self._state[:] = states[:, -1]
        if not (self._state[:, 3] > 0.9 * case.STANDING_HEIGHT).all():  # after the time and x, y
            raise Fallen(f"{self.name}: lowest at {self._state[:, 3].min():.3g} m")


class Spinners:
    """Threads that compute without memory and without Python: what the machine's cores give at most."""

    def __init__(self, threads: int):
        self.name, self.steps, self._threads = f"arithmetic, {threads} thread{'s' * (threads > 1)}", threads, threads
        spin(1)

    def run(self) -> None:
        """Let all of them compute."""
        others = [threading.Thread(target=spin, args=(SPIN,)) for _ in range(self._threads)]
        for each in others:
            each.start()
        for each in others:
            each.join()


@numba.njit(nogil=True)
def spin(turns: int) -> float:
    """A sum that takes its time."""
    total = 0.0
    for k in range(turns):
        total += 1.0 / (k + total + 1.0)
    return total
