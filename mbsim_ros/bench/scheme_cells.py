# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A scheme on a robot as a user launches it: a cell of the matrix of both, launched, judged, and its bag replayed."""

from __future__ import annotations

import shutil
import subprocess
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from mbsim_ros.bench.cases import WALKER
from mbsim_ros.bench.mbsim_process import DOMAIN, run_mbsim
from mbsim_ros.dynamics.inverse import GRAVITY
from mbsim_ros.integrators.capability import Capabilities
from mbsim_ros.integrators.integrator import IntegrationProblem
from mbsim_ros.integrators.registry import suitable
from mbsim_ros.launcher.packages import share_directory
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.sim.surroundings.scene import make_scene

SECONDS = 1.0  # simulated
STEP = 1e-3  # s, of the launch files
NO_GROUND = ("terrain:=none",)
# A robot without a controller does not wait for its recorder: one that comes too late for the last state is given more
# time, by simulated over real time.
PACES = (2.0, 0.5, 0.1)
RAN, REFUSED = "ran", "refused"
SAME = "bit for bit"


@dataclass(frozen=True)
class RobotToLaunch:
    """A robot of the matrix and what is said of it at launch."""

    name: str
    path: Path
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class SchemeCell:
    """A scheme on a robot, and what its row says: nothing, or why it is refused."""

    robot: RobotToLaunch
    row: Capabilities
    expected: str

    @property
    def words(self) -> list[str]:
        """Arguments of the launch file."""
        scheme = [f"integrator:={self.row.name}", f"order:={self.row.order}"]
        return [f"robot:={self.robot.path}", *scheme, *self.robot.arguments]


@dataclass(frozen=True)
class CellResult:
    """What a launch came to: RAN or REFUSED as the row says, or in which way otherwise."""

    cell: SchemeCell
    verdict: str

    @property
    def is_as_said(self) -> bool:
        """Whether the launch did what the row of the scheme says."""
        return self.verdict == (REFUSED if self.cell.expected else RAN)


def robots_to_launch() -> list[RobotToLaunch]:
    """Every robot of this package; the box without ground as well, for schemes of free bodies."""
    folder = share_directory("mbsim_ros") / "urdf"
    files = [path for path in sorted(folder.iterdir()) if "<robot name=" in path.read_text(encoding="utf-8")]
    found = [RobotToLaunch(path.name.partition(".")[0], path) for path in files]
    boxes = [RobotToLaunch("box, no ground", robot.path, NO_GROUND) for robot in found if robot.name == "box"]
    return [*found, *boxes, RobotToLaunch("walker_sized", WALKER)]


def cells_of(robot: RobotToLaunch) -> list[SchemeCell]:
    """Every scheme on a robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # masses and shapes of robots are not the matter here
        model = load_urdf(robot.path)
        terrain = False if NO_GROUND[0] in robot.arguments else None
        scene = make_scene(model, STEP, GRAVITY, terrain, None, None, None, None)
    found = suitable(IntegrationProblem(model, STEP, GRAVITY, scene))
    return [SchemeCell(robot, row, "; ".join(ways)) for row, ways in found]


def launch(cell: SchemeCell, bag: Path, domain: int = DOMAIN) -> subprocess.CompletedProcess[str]:
    """`mbsim launch free` with the cell's integrator; what it simulates is recorded, to the end."""
    words = [f"duration:={SECONDS}", "view:=false", "record:=true", f"bag:={bag}"]
    for pace in PACES:
        shutil.rmtree(bag, ignore_errors=True)
        done = run_mbsim("launch", "free", *cell.words, *words, f"real_time_factor:={pace}", domain=domain)
        if done.returncode != 0 or recorded_until(bag) == SECONDS:
            break
    return done


def recorded_until(bag: Path) -> float:
    """Simulated time of the last message of a bag with states [s], as its metadata have it; -1 where there are none.

    A recorder that is there is waited for, so that of the states after its first none is missing.
    """
    file = bag / "metadata.yaml"
    if not file.is_file():
        return -1.0
    about = yaml.safe_load(file.read_text(encoding="utf-8"))["rosbag2_bagfile_information"]
    counts = {each["topic_metadata"]["name"]: each["message_count"] for each in about["topics_with_message_count"]}
    if counts.get("/joint_states", 0) < 2:
        return -1.0
    start, length = about["starting_time"]["nanoseconds_since_epoch"], about["duration"]["nanoseconds"]
    return float((start + length) / 1e9)


def judged(cell: SchemeCell, domain: int = DOMAIN) -> CellResult:
    """Launch a cell, and hold what became of it against its row; what ran has to be in its bag, bit for bit."""
    with TemporaryDirectory() as folder:
        bag = Path(folder) / "bag"
        try:
            done = launch(cell, bag, domain)
            if done.returncode != 0:
                return CellResult(cell, REFUSED if is_refusal(cell, done) else _last_words(done))
            until, again = recorded_until(bag), run_mbsim("replay", str(bag))
        except subprocess.TimeoutExpired as error:
            return CellResult(cell, f"took too long: {error.cmd[-1]}")
    if until != SECONDS:
        return CellResult(cell, f"recorded until {until:g} s")
    return CellResult(cell, RAN if SAME in again.stdout else f"no replay: {_last_words(again)}")


def is_refusal(cell: SchemeCell, done: subprocess.CompletedProcess[str]) -> bool:
    """Whether a launch ended with the words of the scheme's row, all of them, and not otherwise."""
    written = done.stdout + done.stderr
    return done.returncode != 0 and bool(cell.expected) and cell.expected in written and "Traceback" not in written


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    lines: Sequence[str] = (done.stdout + done.stderr).strip().splitlines()
    return lines[-1][:200] if lines else f"code {done.returncode}, without a word"
