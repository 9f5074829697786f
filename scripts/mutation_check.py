# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Do the tests see a wrong sign? Each change of scripts/mutations.yaml is made alone, in a copy, and must fail a test.

    .venv/bin/python scripts/mutation_check.py              # all of them, and a table
    .venv/bin/python scripts/mutation_check.py cay dcay     # those whose file, change or tests have one of these words

First all the tests are run as they are: what fails then would prove nothing. Kernels run as plain Python, for compiling
costs more than these tests. What others made is imported once, and forks of this process run the tests of each change,
which saves most of the time. The checkout is not touched.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
CHANGES = Path(__file__).with_name("mutations.yaml")
FOLDERS = ("mbsim_ros", "test", "urdf", "config", "launch", "interfaces", "docs", "scripts")
FILES = ("package.xml", "pyproject.toml", "setup.py", "setup.cfg", "README.md", "CHANGELOG.md")
OF_OTHERS = ("numba", "scipy.integrate", "scipy.optimize", "scipy.spatial.transform", "hypothesis", "pytest",
             "transforms3d", "lxml.etree", "rich.console", "pinocchio", "casadi")  # fmt: skip
LONGEST = 1200.0  # s that tests may take: what is not done then proves nothing
NO_TESTS, PASSED = 5, 0  # exit codes of pytest


@dataclass(frozen=True)
class Change:
    """One line of a file of mbsim_ros made wrong, and the tests that should see it."""

    file: str
    find: str
    replace: str
    tests: tuple[str, ...]

    def applied(self, text: str) -> str:
        """The file's text, changed; ValueError if what to find is not there exactly once."""
        if text.count(self.find) != 1:
            raise ValueError(f"{self.file}: expected '{self.find}' once, found it {text.count(self.find)} times")
        if self.find == self.replace:
            raise ValueError(f"{self.file}: '{self.find}' is replaced by itself")
        return text.replace(self.find, self.replace)

    def has(self, words: list[str]) -> bool:
        """Whether one of the words is in it; of no words, yes."""
        return not words or any(word in " ".join((self.file, self.find, self.replace, *self.tests)) for word in words)


def read_changes(file: Path = CHANGES) -> list[Change]:
    """The changes, each checked against the file that it is to change."""
    changes = [Change(**{**each, "tests": tuple(each["tests"])}) for each in yaml.safe_load(file.read_text("utf-8"))]
    for change in changes:
        change.applied((ROOT / "mbsim_ros" / change.file).read_text("utf-8"))
    return changes


def copy_of_checkout(folder: Path) -> None:
    """What the tests need, without what was built."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in FOLDERS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored, symlinks=True)
    for name in FILES:
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, folder / name)


def tests_pass(folder: Path, tests: tuple[str, ...]) -> tuple[bool, str]:
    """Whether they do in the copy, as far as they were done, and what pytest said of the first that does not."""
    log = folder / "said.txt"
    child = os.fork()
    if child == 0:
        _run_tests(folder, tests, log)
    code = _exit_code(child)
    lines = log.read_text("utf-8").splitlines()
    said = [line for line in lines if line.startswith(("FAILED", "ERROR"))] or lines[-1:] or [""]
    if code is None:
        return True, f"not done after {LONGEST:g} s"
    if code == NO_TESTS or "not found" in said[0]:
        raise SystemExit(f"no such tests: {' '.join(tests)}")
    return code == PASSED, said[0]


def _run_tests(folder: Path, tests: tuple[str, ...], log: Path) -> None:
    """In a process of its own, that ends here."""
    code = 1
    try:
        import pytest

        os.chdir(folder)
        sys.path[0] = str(folder)
        os.environ["PYTHONPATH"] = str(folder)
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        arguments = ["-n", "0", "-q", "-x", "-p", "no:cacheprovider", "--no-header", "--tb", "no"]
        code = int(pytest.main([*arguments, *(f"test/{test}" for test in tests)]))
        sys.stdout.flush()
    finally:
        os._exit(code)


def _exit_code(child: int) -> int | None:
    """Of a process when it has ended; None if that took too long."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def main() -> int:
    """Make each change, run its tests, say what they saw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only changes that have one of these words")
    words = parser.parse_args().words
    changes = [change for change in read_changes() if change.has(words)]
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    # Bytecode is known by seconds and sizes of its source: of two changes within a second the first would be run twice.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for name in OF_OTHERS:
        with suppress(ImportError):
            importlib.import_module(name)
    with tempfile.TemporaryDirectory(prefix="mutation_check_") as place:
        folder = Path(place)
        copy_of_checkout(folder)
        os.environ["NUMBA_CACHE_DIR"] = str(folder / "cache")
        passed, said = tests_pass(folder, tuple(sorted({test for change in changes for test in change.tests})))
        if not passed:
            print(f"as they are, tests fail: {said}", file=sys.stderr)
            return 1
        print(f"as they are: {said}", flush=True)
        missed = 0
        for number, change in enumerate(changes, start=1):
            begun, file = time.monotonic(), folder / "mbsim_ros" / change.file
            before = file.read_text("utf-8")
            file.write_text(change.applied(before), "utf-8")
            passed, said = tests_pass(folder, change.tests)
            file.write_text(before, "utf-8")
            missed += passed
            what = f"{change.file}: {change.find} → {change.replace}"
            seen = f"MISSED: {said}" if passed else said.removeprefix("FAILED ").partition(" - ")[0]
            print(f"{number:2d}  {what}\n    {seen}  ({time.monotonic() - begun:.0f} s)", flush=True)
    print(f"{len(changes) - missed} of {len(changes)} changes were seen by a test")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
