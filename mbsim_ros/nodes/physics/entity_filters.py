# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which entities a caller of `simulation_interfaces` asks for: by name, category, tags and place."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simulation_interfaces.msg import Bounds, EntityCategory, EntityFilters

from mbsim_ros.contact.overlap import overlaps_sphere
from mbsim_ros.nodes.physics.extended_expression import matches
from mbsim_ros.sim.simulation import Simulation


class UnsupportedFilter(ValueError):
    """A filter that the standard has and this simulator has not."""


def passes(filters: EntityFilters, sim: Simulation, name: str) -> bool:
    """Whether an entity passes all the filters; ValueError says which of them makes no sense."""
    in_bounds = _overlaps(filters.bounds, sim, name)
    return _matches(filters.filter, name) and _is_of(filters.categories) and not filters.tags.tags and in_bounds


def _matches(expression: str, name: str) -> bool:
    try:
        return matches(expression, name)
    except ValueError as error:
        raise ValueError(f"filter: {error}") from None


def _is_of(categories: Sequence[EntityCategory]) -> bool:
    return not categories or EntityCategory.CATEGORY_ROBOT in {category.category for category in categories}


def _overlaps(bounds: Bounds, sim: Simulation, name: str) -> bool:
    if bounds.type == Bounds.TYPE_EMPTY:
        return True
    if bounds.type != Bounds.TYPE_SPHERE:
        raise UnsupportedFilter(f"bounds: expected a sphere (type {Bounds.TYPE_SPHERE}), got type {bounds.type}")
    if len(bounds.points) != 2:
        raise ValueError(f"bounds: expected two points, the centre and the radius in x, got {len(bounds.points)}")
    centre, radius = bounds.points[0], bounds.points[1].x
    if not all(map(math.isfinite, (centre.x, centre.y, centre.z, radius))) or radius < 0.0:
        raise ValueError("bounds: expected a finite centre and a radius of at least 0")
    model, q = (sim.model, sim.q) if sim.entities is None else (sim.entity(name).model, sim.entity(name).q)
    return overlaps_sphere(model, q, (centre.x, centre.y, centre.z), radius)
