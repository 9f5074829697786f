# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Entities that come and go: a scene goes on with the parts of another one, which has others beside them.

What stays keeps its own arrays. What is of all parts is put where it belongs in the new scene: points of contact by the
shapes that they are between, factors by their unknowns, drives by their joints. So not a bit of it changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mbsim_ros.collision.touches_kernel import FIRST_SHAPE, PLANE_BODY, POINT_BODY, SECOND_SHAPE
from mbsim_ros.contact.layout import SWITCHING
from mbsim_ros.coupling.configuration import CouplingConfiguration, couple
from mbsim_ros.coupling.of_entities import joined
from mbsim_ros.linalg.tile_matrix import KEPT
from mbsim_ros.model.model import Model

if TYPE_CHECKING:
    from mbsim_ros.integrators.lie_variational.scene.integrator import LieVariationalScene


def joined_coupling(model: Model, parts: Sequence[CouplingConfiguration], name: str) -> CouplingConfiguration:
    """The coupling of the model of all that its parts are in."""
    whole = joined(name, [part.definition for part in parts])
    return couple(model, whole if whole.motors or whole.locked else replace(whole, name="identity"))


def copy_inputs(new: LieVariationalScene, old: LieVariationalScene) -> None:
    """Joints, drives, motors and pushes of the parts that are in both."""
    mine, theirs = new.arrays.inputs, old.arrays.inputs
    for t, s in _both(new, old):
        here, there = (each.dofs[each.first_dof[k] : each.first_dof[k + 1]] for each, k in ((mine, t), (theirs, s)))
        mine.joints[:, here], mine.drives[:, here] = theirs.joints[:, there], theirs.drives[:, there]
        here, there = (
            each.columns[each.first_column[k] : each.first_column[k + 1]] for each, k in ((mine, t), (theirs, s))
        )
        mine.motors[:, here] = theirs.motors[:, there]
        here, there = (each.bodies[each.first_body[k] : each.first_body[k + 1]] for each, k in ((mine, t), (theirs, s)))
        mine.external[here] = theirs.external[there]


def copy_bodies(new: LieVariationalScene, old: LieVariationalScene) -> None:
    """How the bodies move, where they were looked at, and the factors of islands, of the parts that are in both."""
    mine, theirs = new.arrays, old.arrays
    for t, s in _both(new, old):
        n, row, other = new.parts[t].model.n_bodies, int(mine.first_row[t]), int(theirs.first_row[s])
        mine.bodies.twists[row : row + n] = theirs.bodies.twists[other : other + n]
        mine.bodies.reference[row : row + n] = theirs.bodies.reference[other : other + n]
        here, there = (slice(*each.joint.first_tile[k : k + 2]) for each, k in ((mine, t), (theirs, s)))
        for array, source in zip(mine.joint.matrix[:KEPT], theirs.joint.matrix[:KEPT], strict=True):
            array[here] = source[there]
        mine.joint.mark[t], mine.joint.serial[t] = theirs.joint.mark[s], theirs.joint.serial[s]


def number_parts(new: LieVariationalScene, old: LieVariationalScene) -> None:
    """Give parts that have come serials that no other has."""
    following = 1 + max((int(serial) for serial in old.arrays.joint.serial), default=-1)
    for t, entity in enumerate(new.entities):
        if entity not in old.entities:
            new.arrays.joint.serial[t] = following
            following += 1


def copy_points(new: LieVariationalScene, old: LieVariationalScene) -> None:
    """Points of contact between shapes that are in both, and the laws of these; books what the others held."""
    mine, theirs = new.arrays.touches, old.arrays.touches
    number = _shape_numbers(new.shapes.links, old.shapes.links)
    for k, at in enumerate(number):
        if at >= 0:
            row = mine.shapes.parameters
            row.setflags(write=True)
            row[at] = theirs.shapes.parameters[k]
            row.setflags(write=False)
    _copy_own_laws(new, old, number)
    mine.energies[:] = theirs.energies
    n = 0
    for k in range(int(theirs.now.counts[0])):
        first, second = (int(number[theirs.now.between[k, side]]) for side in (FIRST_SHAPE, SECOND_SHAPE))
        if first < 0 or second < 0:
            mine.energies[SWITCHING] += theirs.now.stored[k].sum()
            continue
        for array, source in zip(mine.now[1:], theirs.now[1:], strict=True):
            array[n] = source[k]
        bodies = {int(theirs.shapes.bodies[theirs.now.between[k, FIRST_SHAPE]]): int(mine.shapes.bodies[first])}
        bodies[int(theirs.shapes.bodies[theirs.now.between[k, SECOND_SHAPE]])] = int(mine.shapes.bodies[second])
        row = mine.now.between[n]
        row[FIRST_SHAPE], row[SECOND_SHAPE] = first, second
        row[PLANE_BODY], row[POINT_BODY] = (bodies[int(row[side])] for side in (PLANE_BODY, POINT_BODY))
        n += 1
    mine.now.counts[:] = n, theirs.now.counts[1]


def _copy_own_laws(new: LieVariationalScene, old: LieVariationalScene, number: np.ndarray) -> None:
    """Laws of pairs of shapes that are in both."""
    places = {pair: row for row, pair in enumerate(map(tuple, new.shapes.own_pairs.tolist()))}
    laws = new.arrays.touches.shapes.own_parameters
    laws.setflags(write=True)
    for k, (i, j) in enumerate(old.shapes.own_pairs.tolist()):
        row = places.get((min(number[i], number[j]), max(number[i], number[j])))
        if row is not None:
            laws[row] = old.arrays.touches.shapes.own_parameters[k]
    laws.setflags(write=False)


def _both(new: LieVariationalScene, old: LieVariationalScene) -> list[tuple[int, int]]:
    """Numbers, in both scenes, of the parts that are in both."""
    at = {entity: s for s, entity in enumerate(old.entities)}
    return [(t, at[entity]) for t, entity in enumerate(new.entities) if entity in at]


def _shape_numbers(new: Sequence[str], old: Sequence[str]) -> np.ndarray:
    """For each shape of old its number in new, -1 for none: the k-th of a link is the k-th of that link."""
    seen: Counter[str] = Counter()
    there: dict[tuple[str, int], int] = {}
    for k, link in enumerate(new):
        there[link, seen[link]] = k
        seen[link] += 1
    seen.clear()
    found = []
    for link in old:
        found.append(there.get((link, seen[link]), -1))
        seen[link] += 1
    return np.array(found, dtype=np.int64)
