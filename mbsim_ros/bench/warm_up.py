# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Compiling every kernel of the core before it is needed.

A kernel is compiled when it is first called with arguments of a kind, so everything is called once with small ones.
`python -m mbsim_ros.bench.warm_up` does it from the command line.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

CORE = ("mbsim_ros.lie", "mbsim_ros.dynamics")

Call = tuple[str, Callable[[], object]]


def compile_all(report: Callable[[int, int, str], None] | None = None) -> dict[str, float]:
    """Call everything once; returns the seconds of each call.

    report(done, total, name) is told before each call. The default writes one line to a terminal, over and over.
    """
    say = report or _progress_line
    calls = core_calls()
    seconds = {}
    for number, (name, call) in enumerate(calls):
        say(number, len(calls), name)
        begin = time.perf_counter()
        call()
        seconds[name] = time.perf_counter() - begin
    say(len(calls), len(calls), "")
    return seconds


def core_calls() -> list[Call]:
    """Name and call, with representative arguments, of everything that has compiled code."""
    return [*_dynamics_calls(), *_lie_calls()]


def kernels() -> dict[str, Any]:
    """All compiled functions of the core by name; helpers, which live only inside kernels, are not among them."""
    found = {}
    for module in modules():
        for name, value in vars(module).items():
            if _is_kernel(value) and value.py_func.__module__ == module.__name__:
                found[f"{module.__name__}.{name}"] = value
    return found


def _dynamics_calls() -> list[Call]:
    """The public functions: their arguments are what users' calls give to the kernels."""
    from mbsim_ros import dynamics
    from mbsim_ros.dynamics import jacobian
    from mbsim_ros.dynamics.kernels.mass_matrix_kernel import mass_matrix_into
    from mbsim_ros.model.assembly.builder import ModelBuilder, chain

    model = chain(2, base="floating")
    builder = ModelBuilder("mimic").link("world").link("a", mass=1.0, sphere=0.1).link("b", mass=1.0, sphere=0.1)
    builder.joint("leader", "continuous", "world", "a").joint("follower", "continuous", "a", "b", mimic="leader")
    mimic = builder.build()
    w = dynamics.Workspace(model)
    q, v, link = np.array(model.neutral), np.zeros(model.nv), model.link_names[-1]
    M = np.eye(model.nv)
    arguments: dict[str, tuple[object, ...]] = {
        "inverse_dynamics": (q, v, v),
        "forward_dynamics": (q, v, v),
        "mass_matrix": (q,),
        "forward_kinematics": (q, v, v),
        "link_poses": (q,),
        "link_pose": (q, link),
        "link_twist": (q, v, link),
        "link_acceleration": (q, v, v, link),
        "frame_jacobian": (q, link),
        "momentum": (q, v),
        "centroidal_momentum": (q, v),
        "centroidal_momentum_matrix": (q,),
        "centre_of_mass": (q,),
        "energy": (q, v),
        "kinetic_energy": (q, v),
        "potential_energy": (q,),
        "generalised_momentum_and_gradient": (q, v),
    }
    return [
        *((name, partial(getattr(dynamics, name), model, *given)) for name, given in arguments.items()),
        ("mass_matrix with mimic joints", partial(dynamics.mass_matrix, mimic, np.zeros(1))),
        (
            "mass_matrix_into",
            partial(
                mass_matrix_into,
                model.topology,
                model.constants,
                model.dof_parent,
                q,
                w.sincos,
                w.rows,
                w.dofs,
                M.copy(),
            ),
        ),
        ("motion_subspaces", partial(jacobian.motion_subspaces, model, q)),
        ("Factorisation", lambda: dynamics.Factorisation(model, M)),
        ("Factorisation.solve (vector)", lambda: dynamics.Factorisation(model, M).solve(v)),
        ("Factorisation.solve (matrix)", lambda: dynamics.Factorisation(model, M).solve(M)),
    ]


def _lie_calls() -> list[Call]:
    """The kernels themselves: some have no Python function, integrators use them from their own kernels."""
    return [
        (name.removeprefix("mbsim_ros."), partial(kernel, *_lie_arguments(kernel)))
        for name, kernel in kernels().items()
        if name.startswith("mbsim_ros.lie.")
    ]


def _lie_arguments(kernel: Any) -> list[object]:
    """Arguments by their first letters: R a rotation, p and w vectors, h a step, others as large as the group."""
    function = kernel.py_func
    size = 6 if "_se3" in function.__name__ else 3 if "_so3" in function.__name__ else 4
    arguments: list[object] = []
    for name in function.__code__.co_varnames[: function.__code__.co_argcount]:
        letter = name.partition("_")[0]
        if letter == "R":
            arguments.append(np.eye(3))
        elif letter == "h":
            arguments.append(0.1)
        else:
            vector = np.zeros({"p": 3, "w": 3, "q": 4}.get(letter, size))
            vector[0] = 1.0  # a quaternion must not be zero
            arguments.append(vector)
    return arguments


def modules() -> Iterator[ModuleType]:
    """All modules of the core."""
    for package in CORE:
        root = importlib.import_module(package)
        yield root
        for info in pkgutil.walk_packages(root.__path__, f"{package}."):
            yield importlib.import_module(info.name)


def _is_kernel(value: object) -> bool:
    options = getattr(value, "targetoptions", None)
    return options is not None and not options.get("no_cpython_wrapper")


def _progress_line(done: int, total: int, name: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[Kpreparing {done}/{total} {name}" if name else "\r\033[K")
        sys.stderr.flush()


if __name__ == "__main__":
    spent = compile_all()
    print(f"{len(kernels())} kernels ready, {sum(spent.values()):.1f} s")
