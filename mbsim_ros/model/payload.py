# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`Payload`: a load that is fixed to a link, from numbers or from words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbsim_ros.model.problems import did_you_mean

POINT = (0.0, 0.0, 0.0)
SLACK = 1e-9  # of the largest moment, for numbers that were rounded
FORM = "`link mass`, `link mass x y z` or `link mass x y z ixx ixy ixz iyy iyz izz`"


class Payload(NamedTuple):
    """A mass [kg], where its centre is in the link's frame [m], and its inertia about that in the link's axes [kg m²].

    inertia: xx, xy, xz, yy, yz, zz, as a URDF has it; all zero for a point.
    """

    mass: float
    at: tuple[float, ...] = POINT
    inertia: tuple[float, ...] = (0.0,) * 6

    def matrix(self) -> np.ndarray:
        """The inertia (3, 3)."""
        xx, xy, xz, yy, yz, zz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def make_payload(link: str, mass: object, at: ArrayLike = POINT, inertia: ArrayLike | None = None) -> Payload:
    """A load for a link; inertia: None, three moments, six numbers as a URDF has them, or a matrix (3, 3).

    Raises ValueError for what no body can have.
    """
    name = f"payload[{link!r}]"
    place = _numbers(f"{name}: at", at, 3)
    moments = _inertia(name, inertia)
    number = float(_numbers(f"{name}: mass", mass, 1)[0])
    if number < 0.0:
        raise ValueError(f"{name}: mass: expected a finite number of 0 or more, got {number:g}")
    principal = np.linalg.eigvalsh(moments)  # ascending
    slack = SLACK * float(np.abs(principal).max())
    if principal[0] < -slack or principal[2] > principal[0] + principal[1] + slack:
        shown = " ".join(f"{moment:.4g}" for moment in principal)
        raise ValueError(f"{name}: inertia: no body has the principal moments {shown}: check the order and the signs")
    if number == 0.0 and principal.any():
        raise ValueError(f"{name}: inertia: expected none without a mass")
    return Payload(number, tuple(place.tolist()), tuple(moments[np.triu_indices(3)].tolist()))


def read_payloads(texts: Iterable[str]) -> dict[str, Payload]:
    """Loads by link, from texts as `hand 2.0 0 0 0.1`; empty ones are none. ValueError says which is wrong."""
    found: dict[str, Payload] = {}
    for text in texts:
        link, *words = text.split() or [""]
        if not link:
            continue
        if len(words) not in (1, 4, 10):
            raise ValueError(f"payload: expected {FORM}, got {text!r:.120}")
        if link in found:
            raise ValueError(f"payload: '{link}' is named twice: one load for a link")
        found[link] = make_payload(link, words[0], words[1:4] or POINT, words[4:] or None)
    return found


def payload_texts(payloads: Mapping[str, Payload]) -> list[str]:
    """The texts from which `read_payloads` makes the same, bit for bit."""
    return [" ".join([link, *map(repr, (load.mass, *load.at, *load.inertia))]) for link, load in payloads.items()]


def refuse_unknown(payloads: Mapping[str, object], links: Iterable[str]) -> None:
    """Raise ValueError for a load on a link that there is not."""
    known = set(links)
    for link in payloads:
        if link not in known:
            raise ValueError(f"payload[{link!r}]: no such link: {did_you_mean(str(link), known, 'see the URDF', 0)}")


def _inertia(name: str, given: ArrayLike | None) -> np.ndarray:
    if given is None:
        return np.zeros((3, 3))
    if np.shape(given) == (3, 3):
        matrix = _numbers(f"{name}: inertia", np.ravel(given), 9).reshape(3, 3)
        if np.abs(matrix - matrix.T).max() > SLACK * np.abs(matrix).max():
            raise ValueError(f"{name}: inertia: expected a symmetric matrix, got {matrix.tolist()}")
        return matrix
    if np.shape(given) == (3,):
        return np.diag(_numbers(f"{name}: inertia", given, 3))
    return Payload(0.0, POINT, tuple(_numbers(f"{name}: inertia", given, 6).tolist())).matrix()


def _numbers(name: str, given: object, count: int) -> np.ndarray:
    try:
        values = np.atleast_1d(np.array(given, dtype=float))
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (count,) or not all(map(math.isfinite, values)):
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        raise ValueError(f"{name}: expected {expected}, got {given!r:.80}")
    return values
