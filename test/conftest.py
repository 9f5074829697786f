# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Fixtures for all tests."""

from __future__ import annotations

import fcntl
import itertools
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from compiled_first import compile_scenes

# What starts the tests may ignore signals, and children inherit that: they are to meet the ordinary ones.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# The same for bytecode: hundreds of processes would each read the package from its sources.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

os.environ["MBSIM_VIEW"] = "false"  # no web view beside the simulations that tests launch, but for those that ask

sys.path.append(str(Path(__file__).parent / "dynamics"))  # its random robots serve other folders, too

_DOMAINS = 96  # 1 … 96 are safe on Linux
_candidates = itertools.count(random.SystemRandom().randrange(_DOMAINS))

_OVER_ROS = ("nodes", "launcher")  # folders of tests that start nodes; others carry the marker themselves
_PEERS = {"pinocchio", "mujoco", "pinocchio_from_description", "kinematics_oracle", "mujoco_oracle"}
_MANY = 1000  # tests, as in a run of all of them


# Folders and files that compute for long; single tests of others carry the mark themselves.
_SLOW = {
    "experiments", "bench", "test_walker_rough", "test_walker_random_requests", "test_walker_walks",
    "test_walker_tables", "test_walker_ledger", "test_balance_experiments", "test_energy_of_steps",
    "test_circle_variational", "test_energy_stable", "test_planar_midpoint", "test_baselines", "test_box_drop",
    "test_bouncing_ball", "test_catalogue", "test_film", "test_sim_picture", "test_sim_viewer", "test_view",
    "test_docs_command", "test_hashes", "test_urdf_fuzz", "test_urdf_hostile", "test_recording_bag", "test_plot",
}  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs over ROS, what computes for long, and what compares with a peer by what its file imports."""
    for item in items:
        if item.path.parent.name in _OVER_ROS:
            item.add_marker("ros")
        if item.path.parent.name in _SLOW or item.path.stem in _SLOW:
            item.add_marker("slow")
        if isinstance(item, pytest.Function) and _has_a_peer(item.module):
            item.add_marker("peer")


@cache
def _has_a_peer(module: ModuleType) -> bool:
    """Whether a file of tests has imported a peer, or something of it."""
    origins = (getattr(each, "__module__", None) or getattr(each, "__name__", "") for each in vars(module).values())
    return any(isinstance(origin, str) and origin.partition(".")[0] in _PEERS for origin in origins)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Before all tests, in each of the processes that run them: compile the big kernels together."""
    if hasattr(session.config, "workerinput") and len(session.items) > _MANY:
        compile_scenes(Path(session.config.option.basetemp).parent / "compiling")  # of this run, for all processes


@contextmanager
def domains() -> Iterator[Callable[[], int]]:
    """Takes ROS domains that nobody else has meanwhile: no other test, and no other run on this machine."""
    locks: list[int] = []

    def take() -> int:
        for candidate in itertools.islice(_candidates, _DOMAINS):
            domain = 1 + candidate % _DOMAINS
            lock = os.open(f"{tempfile.gettempdir()}/mbsim_test_domain_{domain}.lock", os.O_CREAT | os.O_RDWR, 0o666)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                continue
            locks.append(lock)
            return domain
        raise RuntimeError(f"all {_DOMAINS} ROS domains are taken by tests that run on this machine")

    try:
        yield take
    finally:
        for lock in locks:
            os.close(lock)


@pytest.fixture
def new_domain() -> Iterator[Callable[[], int]]:
    """Takes ROS domains that nobody else has until the test ends."""
    with domains() as take:
        yield take


@pytest.fixture(scope="module")
def shared_domain() -> Iterator[int]:
    """A ROS domain for nodes that the tests of a file share; what a test starts itself is in its own."""
    with domains() as take, pytest.MonkeyPatch.context() as patch:
        domain = take()
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
        patch.setenv("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")
        yield domain


@pytest.fixture(autouse=True)
def ros_domain(new_domain: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> int:
    """A ROS domain of the test's own, so that no two tests hear each other."""
    domain = new_domain()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    return domain
