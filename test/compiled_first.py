# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The big kernels, compiled once for all processes that run tests, before the first test.

From a cold cache every process would compile what its first tests need, and most of them the same. Here each takes a
scene that no other has taken, and tests begin when all scenes are done.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROBOTS = Path(__file__).resolve().parents[1] / "urdf"


def compile_scenes(folder: Path) -> None:
    """Compile what is not compiled yet, together with the other processes that do so with this folder."""
    folder.mkdir(exist_ok=True)
    for name, scene in SCENES.items():
        with (folder / name).open("a") as lock:
            if _is_taken(lock):
                continue
            scene()
    for name in SCENES:
        with (folder / name).open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until whoever compiles it has done so


def _is_taken(lock: Any) -> bool:
    """Whether another process compiles it, or has done so; else it is this one's."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    if os.fstat(lock.fileno()).st_size > 0:
        return True
    lock.write("taken\n")
    lock.flush()
    return False


def _step(robot: str, **options: Any) -> Callable[[], None]:
    def scene() -> None:
        from mbsim_ros import Simulation

        sim = Simulation(ROBOTS / robot, **options)
        sim.step()
        sim.ledger()

    return scene


def _two_entities() -> None:
    from mbsim_ros import Simulation

    sim = Simulation([ROBOTS / "arm.urdf.xacro", ROBOTS / "box.urdf.xacro"])
    sim.step()
    sim.ledger()


def _long_chain() -> None:
    from mbsim_ros.integrators.lie_variational.integrator import LieVariational
    from mbsim_ros.model.assembly.builder import chain

    LieVariational(chain(30), 1e-3).step()  # long enough for the recursive factors


def _core() -> None:
    from mbsim_ros.bench.warm_up import compile_all

    compile_all(lambda done, total, name: None)


# The longest first.
SCENES: dict[str, Callable[[], None]] = {
    "entities": _two_entities,
    "maximal": _step("arm.urdf.xacro", integrator="quaternion_variational"),
    "coupled": _step("walker.urdf.xacro", coupling="normal"),
    "closed": _step("closed_leg.urdf.xacro", terrain="flat"),
    "plain": _step("arm.urdf.xacro"),
    "long chain": _long_chain,
    "core": _core,
}
