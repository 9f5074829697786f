# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Suite `scenes`: stacks and heaps of boxes, falling and at rest, beside MuJoCo if asked, and how it grows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mbsim_ros.bench.peers import mujoco as mujoco_peer
from mbsim_ros.bench.result import BenchGoal, Options, Progress, SuiteResult, Table
from mbsim_ros.model.assembly.builder import ModelBuilder
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.sim.simulation import Simulation

STEP = 0.001  # s
HALF = 0.1  # m, half an edge
FRICTION = 0.8
SIDE = 4  # boxes along each side of a layer of a heap
PARTS = 5  # of a run, each with a row
NO_SLOWER = 1.0


@dataclass(frozen=True)
class BoxScene:
    """Boxes of 1 kg where they begin: (n, 7), x y z and a quaternion x y z w."""

    name: str
    poses: np.ndarray
    seconds: float


def stack(n: int) -> BoxScene:
    """One on the other, a little askew."""
    poses = [[0.01 * (k % 2), 0.005 * (k % 3), HALF + 2.001 * HALF * k, 0.0, 0.0, 0.0, 1.0] for k in range(n)]
    return BoxScene(f"stack of {n}", np.array(poses), 5.0)


def heap(n: int) -> BoxScene:
    """Layers of boxes in any orientation, apart from each other, which fall."""
    chance, poses = np.random.default_rng(1), []
    for k in range(n):
        turn = chance.normal(size=4)
        layer, place = divmod(k, SIDE * SIDE)
        x, y = (place % SIDE - 1) * 0.36, (place // SIDE - 1) * 0.36
        poses.append([x, y, 0.2 + 0.36 * layer, *(turn / np.linalg.norm(turn))])
    return BoxScene(f"heap of {n}", np.array(poses), 5.0)


def run(options: Options, progress: Progress) -> SuiteResult:
    """Measure everything."""
    scenes = [stack(3), heap(5)] if options.quick else [stack(10), heap(10), heap(30), heap(100)]
    peers = options.peers and mujoco_peer.is_installed()
    progress.begin(len(scenes) + 1)
    result = SuiteResult(notes=_notes(options, peers))
    at_rest: dict[int, float] = {}
    for scene in scenes:
        progress.step(scene.name)
        table, last = measure(scene, peers, result)
        result.tables.append(table)
        if scene.name.startswith("heap"):
            at_rest[len(scene.poses)] = last
    progress.step("two bipeds and ten boxes")
    result.tables.append(robots_in_a_heap(result))
    if len(at_rest) > 2:
        result.goals.append(
            BenchGoal("heaps at rest: growth with the number of boxes", _exponent(at_rest), 1.2, False, "")
        )
    return result


def measure(scene: BoxScene, peers: bool, result: SuiteResult) -> tuple[Table, float]:
    """Run a scene part by part on both sides; the table and our time of a step [ms] at the end."""
    sim = our_scene(scene)
    theirs = their_scene(scene) if peers else None
    columns = [
        "until",
        "ours",
        *(["MuJoCo", "ratio"] if peers else []),
        "points",
        "fastest",
        *(["MuJoCo's"] if peers else []),
    ]
    table = Table(f"{scene.name}, ms of CPU time a step of 1 ms", columns)
    steps = round(scene.seconds / STEP / PARTS)
    ours = 0.0
    spent: list[float] = []
    of_peer: list[float] = []
    for part in range(1, PARTS + 1):
        ours = _cpu(lambda: sim.advance(steps), steps)
        row = [f"{part * steps * STEP:g} s", f"{ours:.3f}"]
        record: dict[str, object] = {"scene": scene.name, "until": part * steps * STEP, "ms": ours}
        points = len(sim.integrator.shape_pairs()) + int((sim.integrator.contacts.modes > 1).sum())
        rest = [str(points), f"{np.abs(sim.v).max():.1e}"]
        if theirs is not None:
            advance, velocities = theirs
            peer = _cpu(lambda: advance(steps), steps)  # noqa: B023 (called at once)
            row += [f"{peer:.3f}", f"{ours / peer:.2f}"]
            rest.append(f"{np.abs(velocities()).max():.1e}")
            record["mujoco_ms"] = peer
            spent.append(ours)
            of_peer.append(peer)
            if part == PARTS:
                result.goals.append(
                    BenchGoal(f"{scene.name}: all our steps over MuJoCo's", sum(spent) / sum(of_peer), NO_SLOWER, False)
                )
                result.goals.append(
                    BenchGoal(f"{scene.name}: our step at the end over MuJoCo's", ours / peer, NO_SLOWER, False)
                )
        table.rows.append(row + rest)
        result.measurements.append(record)
    return table, ours


def robots_in_a_heap(result: SuiteResult) -> Table:
    """Two bipeds without drives and ten boxes fall on each other: whether they rest, and a step beside its parts'."""
    biped, chance = load_urdf("biped"), np.random.default_rng(3)
    models = {"one": biped, "two": biped, **{f"box{k}": _box() for k in range(10)}}
    sim = Simulation(models, STEP, contact={"friction": FRICTION})
    start = {
        f"{name}/base": [0.15 * i, 0.1 * i, 1.2 + 1.3 * i, *_turn(chance)] for i, name in enumerate(("one", "two"))
    }
    for k in range(10):
        angle = 0.4 * np.pi * k
        start[f"box{k}/base"] = [0.3 * np.cos(angle), 0.3 * np.sin(angle), 0.25 + 0.4 * (k // 5), *_turn(chance)]
    sim.reset(start)
    table = Table("two bipeds and ten boxes, ms of CPU time a step of 1 ms", ["until", "ours", "fastest"])
    ours = 0.0
    for _ in range(PARTS):
        ours = _cpu(lambda: sim.advance(1000), 1000)
        table.rows.append([f"{sim.seconds:g} s", f"{ours:.3f}", f"{np.abs(sim.v).max():.1e}"])
    alone = sum(_alone(models[name], sim.entity(name).q) for name in models)
    table.rows.append(["the parts alone, together", f"{alone:.3f}", ""])
    what = "two bipeds and ten boxes"
    result.goals.append(BenchGoal(f"{what}: a step over the sum of its parts", ours / alone, 1.3, False))
    result.goals.append(BenchGoal(f"{what}: fastest after 5 s", float(np.abs(sim.v).max()), 1e-6, False, "m/s"))
    return table


def _alone(model: Model, q: np.ndarray) -> float:
    """ms of a step of one of them by itself, where it lies."""
    sim = Simulation(model, STEP, contact={"friction": FRICTION, "max_penetration": 1e-4})
    sim.reset(q)
    sim.advance(200)
    return _cpu(lambda: sim.advance(1000), 1000)


def _turn(chance: np.random.Generator) -> np.ndarray:
    turn = chance.normal(size=4)
    return turn / np.linalg.norm(turn)  # type: ignore[no-any-return]


def our_scene(scene: BoxScene) -> Simulation:
    """The scene here, compiled."""
    sim = Simulation({f"box{k:03d}": _box() for k in range(len(scene.poses))}, STEP, contact={"friction": FRICTION})
    start = {f"box{k:03d}/base": pose for k, pose in enumerate(scene.poses)}
    sim.reset(start)
    sim.step()
    sim.reset(start)
    return sim


def their_scene(scene: BoxScene) -> tuple[Callable[[int], None], Callable[[], np.ndarray]]:
    """The same in MuJoCo, with its defaults: advances by steps, tells velocities."""
    import mujoco

    bodies = "".join(
        f"<body pos='{x} {y} {z}' quat='{qw} {qx} {qy} {qz}'><freejoint/>"
        f"<geom type='box' size='{HALF} {HALF} {HALF}' mass='1' friction='{FRICTION}'/></body>"
        for x, y, z, qx, qy, qz, qw in scene.poses
    )
    ground = f"<geom type='plane' size='0 0 1' friction='{FRICTION}'/>"
    xml = f"<mujoco><option timestep='{STEP}'/><worldbody>{ground}{bodies}</worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)

    def advance(steps: int) -> None:
        for _ in range(steps):
            mujoco.mj_step(model, data)

    return advance, lambda: np.array(data.qvel)


def _box() -> Model:
    edge = 2.0 * HALF
    return ModelBuilder("box").link("box", mass=1.0, box=(edge, edge, edge), collision=True).build("floating")


def _cpu(work: Callable[[], None], steps: int) -> float:
    """ms of this thread's CPU time for each of the steps."""
    start = time.thread_time()
    work()
    return 1e3 * (time.thread_time() - start) / steps


def _exponent(times: dict[int, float]) -> float:
    """Of a power of the number, fitted."""
    return float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])


def _notes(options: Options, peers: bool) -> list[str]:
    notes = ["boxes of 1 kg with edges of 0.2 m; fastest: the largest velocity of any body, m/s or rad/s"]
    if options.peers and not peers:
        notes.append("peers skipped: pip install mujoco")
    if peers:
        notes.append(f"MuJoCo {mujoco_peer.version()} with its defaults, the same start")
    return notes
