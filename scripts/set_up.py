# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Makes what `./mbsim` runs in: .venv with ROS 2 and this package, or links beside a sourced ROS 2.

Which ROS 2 that is, --ros says: requirements/ros-NAME.txt lists its wheels.

Standard library only: it runs before anything is installed. Layers are made in order, each is remembered by a
stamp (a hash of all that it depends on) and made again only when that changes. One process works at a time; an
interrupted installation is recognised by its marker and begun anew. What a simulation takes without ROS comes first:
the kernels that a launch will need compile beside all that follows.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from beside import Beside
from linking import link_package
from progress import Step, StepFailed

ROOT = Path(__file__).resolve().parent.parent
PYTHON = os.path.realpath(sys.executable)  # not an environment's link to it, which may have to be removed
BEFORE_KERNELS = ("venv", "core")  # layers without which nothing can be compiled
SIMULATION_INTERFACES = {"jazzy": "1.5", "kilted": "2.1"}  # with which fields the simulation services are built


@dataclass(frozen=True)
class Layer:
    """A part of the environment: what it depends on and how it is made."""

    name: str
    inputs: tuple[str, ...]  # files and folders below the root
    make: Callable[[Path], None]

    def fingerprint(self, venv: Path) -> str:
        """Hash of all inputs, and of where and with which Python the environment is."""
        digest = hashlib.sha256(f"{venv}\0{sys.implementation.cache_tag}\0".encode())
        for file in _files(self.inputs):
            digest.update(f"{file.relative_to(ROOT)}\0".encode())
            digest.update(file.read_bytes())
        return digest.hexdigest()

    def stamp(self, venv: Path) -> Path:
        """File that holds the fingerprint of what was made."""
        return venv / "mbsim" / f"{self.name}.stamp"

    def is_current(self, venv: Path) -> bool:
        """Was this layer made from the inputs as they are now?"""
        stamp = self.stamp(venv)
        return stamp.is_file() and stamp.read_text() == self.fingerprint(venv)


def main() -> int:
    """Bring the environment up to date; silent and quick when it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=Path, help="make or update this virtual environment")
    parser.add_argument("--ros", default="kilted", help="distribution whose wheels the environment gets (kilted)")
    parser.add_argument("--overlay", type=Path, help="only link the package into this ament prefix")
    parser.add_argument("layers", nargs="*", default=[], help="run, test, docs")
    parser.add_argument("--for", nargs=argparse.REMAINDER, default=[], dest="command", help="what ./mbsim will do then")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    layers = layers_of(options.ros, options.layers)
    try:
        if options.overlay:
            with _only_one(options.overlay):
                link_package(options.overlay, ROOT)
        else:
            set_up(options.venv, layers, options.command)
    except (StepFailed, OSError) as error:
        print(f"mbsim: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nmbsim: interrupted; the next ./mbsim begins again where it must", file=sys.stderr)
        return 130
    return 0


def set_up(venv: Path, layers: tuple[Layer, ...], command: Sequence[str] = ()) -> None:
    """Make what is missing or out of date of the layers, for a command of ./mbsim that comes after it."""
    if _is_whole(venv) and all(layer.is_current(venv) for layer in layers):
        return
    with _only_one(venv):
        _refuse_foreign(venv)
        usable = _is_whole(venv) and layers[0].is_current(venv)
        pending = [layer for layer in layers if not usable or not layer.is_current(venv)]
        if not pending:
            return
        _check_tools(pending)
        if venv.exists() and not usable:
            shutil.rmtree(venv)  # moved, of another Python, or interrupted, which can look complete to pip and not be
        fresh = not venv.exists()
        print(f"Setting up {venv} (once, a few minutes):" if fresh else f"Updating {venv}:", file=sys.stderr)
        try:
            with _marked(venv), kernels_beside(venv, command) as kernels:
                for layer in pending:
                    if layer.name not in BEFORE_KERNELS:
                        kernels.begin()
                    layer.make(venv)
                    layer.stamp(venv).parent.mkdir(exist_ok=True)
                    layer.stamp(venv).write_text(layer.fingerprint(venv))
                kernels.finish()
        except StepFailed:
            if fresh:
                shutil.rmtree(venv, ignore_errors=True)  # nothing half-made stays
            else:
                _marker(venv).unlink(missing_ok=True)  # pip and colcon have ended by themselves: what was there works
            raise


def make_venv(venv: Path) -> None:
    """An empty virtual environment."""
    remedy = "this Python cannot make virtual environments: install its venv module (Debian: apt install python3-venv)"
    Step("Python environment").run([PYTHON, "-m", "venv", str(venv)], remedies={"ensurepip is not available": remedy})


def install_core(venv: Path) -> None:
    """What a simulation takes without ROS, and this package where launch files and robots are looked for."""
    _pip(venv, "numerical packages", "-r", str(ROOT / "requirements/core.txt"))
    link_package(venv, ROOT)


def kernels_beside(venv: Path, command: Sequence[str]) -> Beside:
    """The compilation of what a launch needs; of any other command nothing is known beforehand."""
    wanted = [str(venv / "bin/python3"), str(ROOT / "scripts/compile_ahead.py"), *command[1:]]
    is_launch = len(command) > 1 and command[0] == "launch" and not {"-h", "--help", "-s", "--show-args"} & {*command}
    prefixes = [str(venv), *filter(None, [os.environ.get("AMENT_PREFIX_PATH")])]  # as ./mbsim has it
    environment = {**_clean_environment(), "AMENT_PREFIX_PATH": os.pathsep.join(prefixes)}
    return Beside("kernels of this launch (compiling)", wanted if is_launch else [], environment)


def install_packages(venv: Path, ros: str) -> None:
    """ROS 2, the tools that build interfaces, and this package with what it depends on."""
    _pip(venv, f"ROS 2 {ros.capitalize()} and Python packages", "--no-build-isolation",  # setuptools is there
         "-r", str(ROOT / f"requirements/ros-{ros}.txt"), "-r", str(ROOT / "requirements/interface-build.txt"),
         "-e", f"{ROOT}[bags,view]")  # fmt: skip
    link_package(venv, ROOT)


def install_test_packages(venv: Path) -> None:
    """What the test suite needs."""
    _pip(venv, "test packages", "-r", str(ROOT / "requirements/interface-build.txt"), "-e", f"{ROOT}[test]")


def install_docs_packages(venv: Path) -> None:
    """What the documentation is built with."""
    _pip(venv, "documentation packages", "-r", str(ROOT / "requirements/interface-build.txt"), "-e", f"{ROOT}[docs]")


def build_interfaces(venv: Path, ros: str) -> None:
    """The message packages that the Python package index lacks, built with colcon into the environment."""
    packages = sorted(str(path.parent) for path in (ROOT / "interfaces").glob("*/package.xml"))
    if not packages:
        return
    build = venv / "mbsim" / "interfaces"
    environment = {
        **_clean_environment(), "AMENT_PREFIX_PATH": str(venv), "CMAKE_PREFIX_PATH": str(venv),
        "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    command = [
        str(venv / "bin/colcon"), "--log-base", str(build / "log"), "build", "--merge-install",
        "--build-base", str(build / "build"), "--install-base", str(build / "install"), "--paths", *packages,
        "--cmake-args", "-DBUILD_TESTING=OFF", "-Wno-dev", f"-DPython3_EXECUTABLE={venv / 'bin/python3'}",
        f"-DSIMULATION_INTERFACES={SIMULATION_INTERFACES[ros]}",
    ]  # fmt: skip
    headers = "the headers of this Python are missing: install them (Debian: apt install python3-dev)"
    remedies = {"Python.h": headers, "Could NOT find Python3": headers}
    Step("ROS 2 message types (compiling)").run(command, environment, remedies=remedies)
    for folder in ("include", "lib", "share"):
        shutil.copytree(build / "install" / folder, venv / folder, dirs_exist_ok=True)
    shutil.rmtree(build)


def layers_of(ros: str, wanted: list[str]) -> tuple[Layer, ...]:
    """What every command needs, with the ROS 2 of that name, and what this one wants beside it."""
    tools = ("requirements/interface-build.txt", "setup.py", "pyproject.toml")
    with_ros = (f"requirements/ros-{ros}.txt", *tools)
    extra = (
        Layer("test", tools, install_test_packages),
        Layer("docs", tools, install_docs_packages),
    )
    return (
        Layer("venv", (), make_venv),
        Layer("core", ("requirements/core.txt",), install_core),
        Layer("packages", (*with_ros, "setup.cfg", "libexec"), partial(install_packages, ros=ros)),
        Layer("interfaces", ("interfaces", *with_ros[:2]), partial(build_interfaces, ros=ros)),
        *(layer for layer in extra if layer.name in wanted),
    )


def _pip(venv: Path, what: str, *requirements: str) -> None:
    command = [
        str(venv / "bin/python3"), "-m", "pip", "install", "--no-input", "--disable-pip-version-check",
        "--retries", "2", "--progress-bar", "off", "--no-compile", *requirements,  # Python does so with what it imports
    ]  # fmt: skip
    unreachable = "the Python package index cannot be reached: check the network or the proxy (pip config list)"
    remedies = dict.fromkeys(
        ("NewConnectionError", "Temporary failure in name resolution", "ConnectTimeoutError", "ProxyError",
         "Connection refused", "Read timed out", "SSLError"), unreachable,
    )  # fmt: skip
    Step(what).run(command, _clean_environment(), remedies=remedies)


def _check_tools(pending: list[Layer]) -> None:
    """Say at once, before minutes of downloads, what the compilation will miss."""
    if not any(layer.name == "interfaces" for layer in pending) or not any((ROOT / "interfaces").glob("*/package.xml")):
        return
    if not any(shutil.which(name) for name in (os.environ.get("CXX") or "c++", "g++", "clang++")):
        raise StepFailed("no C++ compiler was found: install one (Debian: apt install g++) and run this again.")
    for tool, package in (("cmake", "cmake"), ("make", "make")):
        if not shutil.which(tool):
            raise StepFailed(f"{tool} was not found: install it (Debian: apt install {package}) and run this again.")


def _clean_environment() -> dict[str, str]:
    """The environment without what belongs to another Python."""
    others = (
        "_ROS_WHEELS_BOOTSTRAP_COMPLETE", "PYTHONPATH", "PYTHONHOME", "AMENT_PREFIX_PATH", "COLCON_PREFIX_PATH",
        "PIP_TARGET", "PIP_PREFIX", "PIP_USER",
    )  # fmt: skip
    return {name: value for name, value in os.environ.items() if name not in others}


def _files(inputs: tuple[str, ...]) -> Iterator[Path]:
    for name in inputs:
        path = ROOT / name
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.is_file())
        elif path.is_file():
            yield path


def _refuse_foreign(venv: Path) -> None:
    """Leave alone what somebody else has made under this name."""
    empty = venv.is_dir() and not any(venv.iterdir())
    ours = empty or (venv / "mbsim").is_dir() or _marker(venv).exists()
    if (venv.exists() or venv.is_symlink()) and not ours:
        raise StepFailed(f"{venv} was not made by ./mbsim: move it away and run this again.")


def _marker(venv: Path) -> Path:
    return venv / "mbsim-installing"


def _is_whole(venv: Path) -> bool:
    return (venv / "bin" / "python3").exists() and not _marker(venv).exists()


@contextmanager
def _marked(venv: Path) -> Iterator[None]:
    """Leave a marker in the environment unless the work inside is done to the end."""
    venv.mkdir(exist_ok=True)
    _marker(venv).touch()
    yield
    _marker(venv).unlink()


@contextmanager
def _only_one(venv: Path) -> Iterator[None]:
    """Let one process at a time work on the environment; the lock ends with the process, however it ends."""
    with open(venv.with_name(venv.name + ".lock"), "w") as lock:
        os.set_inheritable(lock.fileno(), True)  # an orphan of a killed set-up keeps the lock while it works
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"mbsim: another ./mbsim is setting up {venv}, waiting for it …", file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())
