# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker without ROS: a simulation and its gait, in the order in which the nodes exchange states and commands.

At every control instant: what is asked for and due, the gait's targets, a coupling that it wants, then the steps of the
period. Where the gait needs nothing of the robot meanwhile (no forces under the feet, the coupling stays) many periods
are one table of targets and one compiled call, with the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

from mbsim_ros.contact.contact_kernel import FORCE
from mbsim_ros.control.walker.gait import MotorCommand, WalkerGait

PERIOD = 0.002  # [s] of control, as in walker.launch.xml
SECOND = 1_000_000_000  # ns
Asked = tuple[float, float, float, float]  # time [s], forward, turn, rise: see WalkerGait.ask


def walk(
    sim: Any, gait: WalkerGait, seconds: float, asked: Iterable[Asked] = (), *, period: float = PERIOD,
    each: Callable[[Any], None] | None = None, every: int = 50,
) -> None:  # fmt: skip
    """Let the gait drive a `Simulation` of the walker for this time, on from wherever both are.

    asked: velocities that are asked for, each at the first instant at or after its time.
    each(sim) is called at every `every`-th control instant, before that instant's command.
    """
    steps, periods = round(period / sim.dt), round(seconds / period)
    due = sorted((round(time * SECOND), velocity) for time, *velocity in asked)
    done = 0
    while done < periods:
        while due and due[0][0] <= sim.time:
            gait.ask(*due.pop(0)[1])
        if each is not None and done % every == 0:
            each(sim)
        ahead = min(periods - done, every - done % every)
        if due:
            ahead = min(ahead, max(1, -((sim.time - due[0][0]) // (steps * sim.dt_ns))))
        if gait.parameters.rough or not gait.is_under_way(sim.coupling.name):
            answer(sim, gait)
            sim.advance(steps)
            done += 1
        else:
            times = [(sim.time + k * steps * sim.dt_ns) / SECOND for k in range(ahead)]
            sim.engine.follow(gait.ahead(times), steps)
            done += ahead


def answer(sim: Any, gait: WalkerGait) -> MotorCommand:
    """Ask the gait once and do what it says: targets of the motors first, then the coupling."""
    coupling = sim.coupling.name
    forces = foot_forces(sim) if gait.parameters.rough else None
    seen = SimpleNamespace(q=sim.q, motor_position=sim.motor_position, coupling=coupling, foot_forces=forces)
    command = gait.update(sim.seconds, seen)
    sim.drive_motors(
        position=dict(zip(command.names, command.position, strict=True)),
        velocity=dict(zip(command.names, command.velocity, strict=True)),
    )
    if command.coupling is not None and command.coupling != coupling:
        sim.couple(command.coupling)
    return command


def foot_forces(sim: Any) -> dict[str, float]:
    """Force on every foot in the last step, by leg [N]."""
    forces = sim.engine.contacts.results[:, FORCE : FORCE + 3]
    amounts = np.sqrt((forces * forces).sum(axis=1)).tolist()
    return {link.removesuffix("_tibia"): force for link, force in zip(sim.scene.points.links, amounts, strict=True)}
