# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which schemes there are: every folder beside this file whose capabilities.py has rows and `make`.

A new scheme is a new folder; nothing else has to know of it.
"""

from __future__ import annotations

import importlib.util
import pkgutil
from functools import lru_cache
from types import ModuleType

import mbsim_ros.integrators as home
from mbsim_ros.integrators.capability import Capabilities, needs_of, obstacles, refuse_unsupported
from mbsim_ros.integrators.integrator import IntegrationProblem, Integrator
from mbsim_ros.model.problems import did_you_mean

FLAGSHIP = "lie_variational"  # what is used where nothing is said


def rows() -> tuple[Capabilities, ...]:
    """The capability table: the flagship's rows first, of the others those that can do most."""
    found = [row for module in _declarations() for row in module.CAPABILITIES]
    return tuple(sorted(found, key=lambda row: (row.name != FLAGSHIP, -len(row.features))))


def names() -> tuple[str, ...]:
    """Names that Simulation(integrator=…) takes."""
    return tuple(dict.fromkeys(row.name for row in rows()))


def find(name: object, order: object = 2) -> Capabilities:
    """The row of a name and an order; ValueError with those that there are.

    2 is what an order is where nothing is said: a scheme without it has its first row then.
    """
    if not isinstance(name, str):
        raise ValueError(f"integrator: expected a name, got {name!r:.80}")
    if name not in names():
        hint = did_you_mean(name, names(), f"there are {', '.join(names())}", 0)
        raise ValueError(f"integrator: no integrator named {name!r}: {hint}")
    orders = {row.order: row for row in rows() if row.name == name}
    orders.setdefault(2, next(iter(orders.values())))
    if not isinstance(order, int) or order not in orders:
        expected = " or ".join(str(row.order) for row in rows() if row.name == name)
        raise ValueError(f"order: expected {expected} with '{name}', got {order!r:.80}")
    return orders[order]


def make_integrator(name: str, problem: IntegrationProblem) -> Integrator:
    """The integrator of this name for a problem; UnsupportedModel with everything that stands in the way."""
    row = find(name, problem.order)
    refuse_unsupported(row, problem, rows())
    (module,) = (module for module in _declarations() if row in module.CAPABILITIES)
    integrator: Integrator = module.make(row, problem)
    return integrator


def suitable(problem: IntegrationProblem) -> tuple[tuple[Capabilities, tuple[str, ...]], ...]:
    """Every row of the table with what stands in its way for a problem; nothing where it can be run."""
    needs = needs_of(problem)
    return tuple((row, tuple(obstacles(row, problem, needs))) for row in rows())


@lru_cache(maxsize=1)
def _declarations_in(paths: tuple[str, ...]) -> tuple[ModuleType, ...]:
    folders = sorted(info.name for info in pkgutil.iter_modules(paths) if info.ispkg)
    found = []
    for folder in folders:
        module = f"{home.__name__}.{folder}.capabilities"
        if importlib.util.find_spec(module) is not None:
            found.append(importlib.import_module(module))
    return tuple(found)


def _declarations() -> tuple[ModuleType, ...]:
    return _declarations_in(tuple(home.__path__))
