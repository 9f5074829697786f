# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""./mbsim on small projects: real virtual environments, real pip, real kills, no downloads."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PYTHON_FOLDER = str(Path(sys.executable).resolve().parent)

# A build backend that needs nothing, can be slow, so that it can be interrupted, and says how often it ran.
BACKEND = """\
import os, time, zipfile

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with open("builds", "a") as builds:
        builds.write("build\\n")
    time.sleep(float(os.environ.get("SLOW", "0")))
    while "GATE" in os.environ and not os.path.exists(os.environ["GATE"]):
        time.sleep(0.02)
    info = "mbsim_ros-0.dist-info"
    files = {
        "mbsim_ros.pth": os.getcwd(),
        f"{info}/METADATA": "Metadata-Version: 2.1\\nName: mbsim_ros\\nVersion: 0\\nProvides-Extra: test\\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\\n" for name in files) + f"{info}/RECORD,,\\n"
    with zipfile.ZipFile(f"{wheel_directory}/mbsim_ros-0-py3-none-any.whl", "w") as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
    return "mbsim_ros-0-py3-none-any.whl"

build_wheel = build_editable
"""
PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout with the real ./mbsim and scripts, but a package that needs nothing."""
    root = tmp_path / "checkout"
    root.mkdir()
    shutil.copy(ROOT / "mbsim", root)
    shutil.copytree(ROOT / "scripts", root / "scripts")
    for folder in ("libexec", "launch", "config", "urdf", "requirements", "mbsim_ros"):
        (root / folder).mkdir()
    for name in ("core", "ros-kilted", "ros-jazzy", "interface-build"):
        (root / f"requirements/{name}.txt").touch()
    (root / "package.xml").touch()
    (root / "libexec/node_stub").touch()
    (root / "libexec/some_node").symlink_to("node_stub")
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "backend.py").write_text(BACKEND)
    (root / "mbsim_ros/__init__.py").touch()
    write_command(root, "print('handed over', *sys.argv[1:])")
    return root


def write_command(root: Path, source: str) -> None:
    """Make the package's command line do something else."""
    (root / "mbsim_ros/cli").mkdir(exist_ok=True)
    (root / "mbsim_ros/cli/main.py").write_text(f"import os, sys\ndef main():\n    {source}")


def environment(**changes: str) -> dict[str, str]:
    """The environment of a machine without ROS: nothing of the one that runs the tests."""
    ours = ("AMENT_PREFIX_PATH", "ROS_DISTRO", "MBSIM_ROS", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    path = os.pathsep.join([PYTHON_FOLDER, "/usr/bin", "/bin"])
    return {**kept, "PATH": path, "PIP_NO_INDEX": "1", **changes}


def mbsim(project: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    command = [str(project / "mbsim"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment(**changes), timeout=120)


def builds(project: Path) -> int:
    """How often the package was built."""
    file = project / "builds"
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_fresh_then_repeated_then_changed(project):
    first = mbsim(project, "a", "b c")
    assert first.returncode == 0, first.stderr
    assert first.stdout == "handed over a b c\n"
    assert "Python environment: done" in first.stderr
    assert builds(project) == 1
    venv = project / ".venv"
    assert (venv / "share/ament_index/resource_index/packages/mbsim_ros").is_file()
    assert (venv / "share/mbsim_ros/launch").resolve() == project / "launch"
    assert [path.name for path in (venv / "lib/mbsim_ros").iterdir()] == ["some_node"]

    again = mbsim(project)
    assert (again.returncode, again.stderr) == (0, "")
    assert builds(project) == 1

    write_command(project, "print(os.environ['AMENT_PREFIX_PATH'])")
    for given in ("/my/ws", f"{venv}:/my/ws"):  # from a shell, and from a process that mbsim has started
        assert mbsim(project, AMENT_PREFIX_PATH=given).stdout == f"{venv}:/my/ws\n"
    write_command(project, "print('handed over', *sys.argv[1:])")

    with open(project / "pyproject.toml", "a") as settings:
        settings.write("# changed\n")
    changed = mbsim(project)
    assert changed.returncode == 0, changed.stderr
    assert "Updating" in changed.stderr and "Python environment" not in changed.stderr
    assert builds(project) == 2

    documented = mbsim(project, "docs")
    assert documented.returncode == 0, documented.stderr
    assert "documentation packages: done" in documented.stderr and "test packages" not in documented.stderr
    assert mbsim(project, "docs").stderr == mbsim(project).stderr == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_in_the_middle_of_an_installation(project, tmp_path, number):
    gate = tmp_path / "gate"  # the build does not end before it is there
    process = subprocess.Popen(
        [str(project / "mbsim")], env=environment(GATE=str(gate)), stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while builds(project) == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert builds(project) == 1, "the build has not begun"
    os.killpg(process.pid, number)
    process.communicate(timeout=120)
    assert process.returncode != 0
    assert (project / ".venv/mbsim-installing").exists()

    gate.touch()
    after = mbsim(project)  # after SIGKILL it waits for pip, which outlives its parent, and begins anew
    assert after.returncode == 0, after.stderr
    assert after.stdout == "handed over\n"
    assert "Setting up" in after.stderr  # from the beginning: a half-made installation is not trusted
    assert not (project / ".venv/mbsim-installing").exists()


def test_started_twice_at_once_works_once(project):
    both = [
        subprocess.Popen(
            [str(project / "mbsim"), str(number)], env=environment(SLOW="2"), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for number in range(2)
    ]  # fmt: skip
    results = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], results
    assert sorted(stdout for stdout, _ in results) == ["handed over 0\n", "handed over 1\n"]
    assert sum("waiting for it" in stderr for _, stderr in results) == 1
    assert builds(project) == 1


def write_compiler(project: Path, source: str) -> None:
    """Make something else of what compiles the kernels of a launch."""
    (project / "mbsim_ros/cli/parts").mkdir(parents=True, exist_ok=True)
    whole = f"import os, pathlib, sys, time\ndef compile_for_launch(arguments):\n    {source}\n"
    (project / "mbsim_ros/cli/parts/compile_ahead.py").write_text(whole)


def test_kernels_of_a_launch_compile_beside_the_installation(project, tmp_path):
    """The package cannot be installed before the compilation has run: one after the other would take for ever."""
    gate = tmp_path / "gate"
    write_compiler(project, f"pathlib.Path({str(gate)!r}).write_text(' '.join(arguments))")
    done = mbsim(project, "launch", "walker", "duration:=2", GATE=str(gate))
    assert (done.returncode, done.stdout) == (0, "handed over launch walker duration:=2\n"), done.stderr
    assert gate.read_text() == "walker duration:=2"
    assert "kernels of this launch (compiling): done in" in done.stderr

    gate.unlink()
    assert mbsim(project, "launch", "walker").stderr == ""  # what is set up compiles where it is used
    for command in (["doctor"], ["launch", "walker", "--show-args"], []):
        (project / "requirements/ros-kilted.txt").write_text(f"# changed for {command}\n")
        told = mbsim(project, *command).stderr
        assert "Updating" in told and "(compiling)" not in told
    assert not gate.exists()


def test_kernels_that_cannot_be_compiled_ahead_stop_nothing(project):
    write_compiler(project, "raise ValueError('no such robot')")
    done = mbsim(project, "launch", "nothing")
    assert (done.returncode, done.stdout) == (0, "handed over launch nothing\n"), done.stderr
    assert "kernels of this launch (compiling): not done (ValueError: no such robot)" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_compilation_ends_with_the_set_up(project, tmp_path, number):
    told, gate = tmp_path / "told", tmp_path / "gate"
    write_compiler(project, f"pathlib.Path({str(told)!r}).write_text(str(os.getpid())); time.sleep(600)")
    process = subprocess.Popen(
        [str(project / "mbsim"), "launch", "walker"], env=environment(GATE=str(gate)), stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    wait_for(lambda: told.exists() and told.read_text() and builds(project) == 1)
    compiler = int(told.read_text())
    os.killpg(process.pid, number)
    gate.touch()  # pip outlives a parent that is killed
    process.communicate(timeout=120)
    wait_for(lambda: not is_running(compiler))
    write_compiler(project, "pass")
    after = mbsim(project, "launch", "walker")
    assert (after.returncode, after.stdout) == (0, "handed over launch walker\n"), after.stderr


def wait_for(condition, seconds: float = 100.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it has not come"
        time.sleep(0.05)


def is_running(process: int) -> bool:
    """Whether there is such a process that is more than an entry in a table."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_an_update_that_fails_leaves_what_works_and_a_moved_checkout_is_set_up_again(project):
    assert mbsim(project).returncode == 0
    (project / "requirements/ros-kilted.txt").write_text("no-such-package-anywhere\n")
    failed = mbsim(project)
    assert failed.returncode == 1
    assert "the step 'ROS 2 Kilted and Python packages' failed" in failed.stderr
    (project / "requirements/ros-kilted.txt").write_text("")
    again = mbsim(project)
    assert (again.returncode, again.stdout, again.stderr) == (0, "handed over\n", "")

    moved = project.with_name("elsewhere")
    project.rename(moved)
    after = mbsim(moved)
    assert after.returncode == 0, after.stderr
    assert after.stdout == "handed over\n" and "Setting up" in after.stderr


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_what_somebody_else_made_is_left_alone(project, tmp_path, kind):
    venv = project / ".venv"
    if kind == "folder":
        venv.mkdir()
        (venv / "precious").touch()
    elif kind == "file":
        venv.touch()
    else:
        venv.symlink_to(tmp_path / "nowhere")
    done = mbsim(project)
    assert done.returncode == 1
    assert "was not made by ./mbsim: move it away" in done.stderr
    assert venv.is_symlink() or venv.is_file() or (venv / "precious").exists()


def test_it_works_from_any_folder_with_blanks_in_its_path_and_through_a_link(project, tmp_path):
    spaced = tmp_path / "with space"
    project.rename(spaced)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mbsim").symlink_to("../with space/mbsim")
    for command in ("with space/mbsim", str(tmp_path / "bin/mbsim")):
        done = subprocess.run([command, "x"], cwd=tmp_path, capture_output=True, text=True, env=environment())
        assert (done.returncode, done.stdout) == (0, "handed over x\n"), done.stderr


class TestOneSentenceSaysWhatToDo:
    """What set-up needs and does not find: said at once, nothing half-made left behind."""

    def refused(self, project: Path, **changes: str) -> str:
        done = mbsim(project, "doctor", **changes)
        assert done.returncode == 1
        assert not (project / ".venv").exists()
        return done.stderr

    def add_interfaces(self, project: Path) -> None:
        shutil.copytree(ROOT / "interfaces", project / "interfaces")

    def path_without(self, tmp_path: Path, *missing: str) -> str:
        """A PATH with what a bare machine has, except some tools."""
        folder = tmp_path / "bin"
        folder.mkdir()
        for tool in ("sh", "dirname", "make", "cmake", "c++", "g++", "env"):
            if tool not in missing:
                (folder / tool).symlink_to(shutil.which(tool) or "/bin/true")
        (folder / "python3").symlink_to(Path(sys.executable).resolve())
        return str(folder)

    def test_no_compiler(self, project, tmp_path):
        self.add_interfaces(project)
        said = self.refused(project, PATH=self.path_without(tmp_path, "c++", "g++"))
        assert said == "mbsim: no C++ compiler was found: install one (Debian: apt install g++) and run this again.\n"

    def test_no_cmake(self, project, tmp_path):
        self.add_interfaces(project)
        said = self.refused(project, PATH=self.path_without(tmp_path, "cmake"))
        assert said == "mbsim: cmake was not found: install it (Debian: apt install cmake) and run this again.\n"

    def test_no_registry(self, project):
        (project / "requirements/ros-kilted.txt").write_text("ros-rclpy\n")
        nowhere = "http://127.0.0.1:9/simple"  # the discard port: refused at once
        said = self.refused(
            project, PIP_NO_INDEX="", PIP_CONFIG_FILE="/dev/null", PIP_INDEX_URL=nowhere, PIP_FIND_LINKS=""
        )
        last = said.splitlines()[-1]
        assert last.startswith("mbsim: the Python package index cannot be reached: check the network or the proxy")

    @pytest.mark.parametrize("version", ["3.9.18", "3.14.0", None])
    def test_no_fitting_python(self, project, tmp_path, version):
        folder = tmp_path / "bin"
        folder.mkdir()
        for tool in ("sh", "dirname", "env"):
            (folder / tool).symlink_to(shutil.which(tool) or "")
        if version is not None:
            # Stands for another Python: answers --version and refuses the check, as that Python would.
            fake = folder / "python3"
            fake.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "Python {version}"\n')
            fake.write_text(fake.read_text() + 'exit $([ "$1" = --version ] && echo 0 || echo 1)\n')
            fake.chmod(0o755)
        said = self.refused(project, PATH=str(folder))
        found = f"Python {version}" if version else "no python3"
        assert said == textwrap.dedent(f"""\
            mbsim: needs Python 3.10 to 3.13 and found {found}: install one (for example python3.12) or name it in MBSIM_PYTHON.
            """)


def test_the_distribution_can_be_chosen_and_has_an_environment_of_its_own(project):
    write_command(project, "print(sys.prefix, os.environ.get('ROS_DISTRO'))")
    jazzy = mbsim(project, MBSIM_ROS="jazzy", ROS_DISTRO="kilted")  # the choice wins over what is sourced
    assert jazzy.returncode == 0, jazzy.stderr
    assert jazzy.stdout.split() == [str(project / ".venv-jazzy"), "None"]
    assert "ROS 2 Jazzy and Python packages: done" in jazzy.stderr
    assert not (project / ".venv").exists()
    with open(project / "requirements/ros-kilted.txt", "a") as other:
        other.write("# changed\n")
    assert mbsim(project, MBSIM_ROS="jazzy").stderr == ""  # what belongs to another distribution does not matter

    unknown = mbsim(project, MBSIM_ROS="foxy")
    assert (unknown.returncode, unknown.stderr) == (1, "mbsim: MBSIM_ROS is 'foxy': expected jazzy or kilted.\n")


def test_a_sourced_ros_is_used_as_it_is(project, tmp_path):
    """With ROS_DISTRO set and an importable rclpy, no environment is made: the Python at hand runs the checkout."""
    import rclpy

    ros = tmp_path / "ros"
    ros.mkdir()
    (ros / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (ros / "python3").chmod(0o755)
    write_command(
        project, "import rclpy, mbsim_ros; print(rclpy.__file__, mbsim_ros.__file__, os.environ['AMENT_PREFIX_PATH'])"
    )
    prefix = os.environ["AMENT_PREFIX_PATH"]
    done = mbsim(project, ROS_DISTRO="kilted", AMENT_PREFIX_PATH=prefix, PATH=f"{ros}:/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        rclpy.__file__,
        str(project / "mbsim_ros/__init__.py"),
        f"{project}/.overlay:{prefix}",
    ]
    assert not (project / ".venv").exists()
    assert (project / ".overlay/share/mbsim_ros/launch").is_dir()
