# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The hopping body of H 4.2: its springs push it off the ground, it flies, and they catch it again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import solve_ivp

from mbsim_ros.control.viscoelastic.law import cross
from mbsim_ros.experiments.hemami.body import (
    ANGLES,
    PHI,
    PLACE,
    STATES,
    SUPPORT,
    TURN,
    VELOCITY,
    HemamiBody,
)

TOLERANCES = {"method": "DOP853", "rtol": 1e-9, "atol": 1e-11, "max_step": 0.05}


@dataclass(frozen=True)
class Hops:
    """Times (n,), states (n, 18), whether the body stands (n,), lift-offs, touch-downs and apexes (time, height)."""

    t: np.ndarray = field(repr=False)
    z: np.ndarray = field(repr=False)
    stands: np.ndarray = field(repr=False)
    lift_offs: list[float]
    touch_downs: list[float]
    apexes: list[tuple[float, float]]


def hop(body: HemamiBody, start: np.ndarray, duration: float, sampling: float) -> Hops:
    """Let go of a state (18,) that stands.

    It stands while Λ_z > 0, for the ground cannot pull, and lifts off at Λ_z = 0. In flight Λ = 0 and the support goes
    back by itself, LT_b Ḋ = −KT_b D. It touches down when the centre of mass has come down to the support, X_z = D_z.
    """
    t, z, stands = 0.0, np.array(start), True
    pieces: list[tuple[np.ndarray, np.ndarray, bool]] = []
    lift_offs: list[float] = []
    touch_downs: list[float] = []
    apexes: list[tuple[float, float]] = []
    while t < duration:
        end_of_phase = _lift_off(body) if stands else _touch_down
        rates = (lambda _, y: body.rates(y)) if stands else (lambda _, y: flight_rates(body, y))
        found = solve_ivp(
            rates, (t, duration), z, events=[end_of_phase, _apex], dense_output=True, **TOLERANCES
        )  # fmt: skip
        end = float(found.t[-1])
        times = np.arange(np.ceil(t / sampling), np.ceil(end / sampling)) * sampling
        times = times[(times >= t) & (times < end)]
        if len(times):
            pieces.append((times, found.sol(times).T, stands))
        if not stands:
            apexes.extend(
                (float(when), float(y[PLACE][2])) for when, y in zip(found.t_events[1], found.y_events[1], strict=True)
            )
        if found.status != 1:
            break
        t, z = end, found.y[:, -1]
        (lift_offs if stands else touch_downs).append(t)
        stands = not stands
    return Hops(
        np.concatenate([times for times, _, _ in pieces]),
        np.concatenate([states for _, states, _ in pieces]),
        np.concatenate([np.full(len(times), there) for times, _, there in pieces]),
        lift_offs,
        touch_downs,
        apexes,
    )


def flight_rates(body: HemamiBody, z: np.ndarray) -> np.ndarray:
    """Ż (18,) in the air: no force, the couple goes on."""
    held = body.rates(z)
    result = np.empty(STATES)
    result[PLACE] = z[VELOCITY]
    result[VELOCITY] = body.gravity
    result[SUPPORT] = -np.linalg.solve(body.law.LTb, body.law.KTb @ z[SUPPORT])
    result[ANGLES], result[PHI] = held[ANGLES], held[PHI]
    W = z[TURN]
    result[TURN] = (-cross(W, body.moments * W) + body.law.couple(z[ANGLES], W, z[PHI])) / body.moments
    return result


def _lift_off(body: HemamiBody):  # type: ignore[no-untyped-def]
    def event(_: float, z: np.ndarray) -> float:
        return float(body.force(z)[2])

    event.terminal, event.direction = True, -1.0  # type: ignore[attr-defined]
    return event


def _touch_down(_: float, z: np.ndarray) -> float:
    return float(z[PLACE][2] - z[SUPPORT][2])


_touch_down.terminal, _touch_down.direction = True, -1.0  # type: ignore[attr-defined]


def _apex(_: float, z: np.ndarray) -> float:
    return float(z[VELOCITY][2])


_apex.direction = -1.0  # type: ignore[attr-defined]
