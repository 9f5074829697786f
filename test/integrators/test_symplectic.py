# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The step map keeps the symplectic form, for every kind of joint: by finite differences of (q, p) → (q', p').

Joints that are groups have no canonical coordinates that hold everywhere. Trivialised from the left, a tangent at (g, p)
is (ξ, π): g moves along g ξ, the numbers p change by π. The canonical one-form is θ = ⟨p, g⁻¹dg⟩. For two fields with
constant (ξ, π), dθ(X, Y) = X θ(Y) − Y θ(X) − θ([X, Y]), and left-invariant fields have [ξ₁, ξ₂] as their bracket, so

    ω = −dθ:   ω((ξ₁, π₁), (ξ₂, π₂)) = ⟨ξ₁, π₂⟩ − ⟨π₁, ξ₂⟩ + ⟨p, [ξ₁, ξ₂]⟩

or Ω(p) = [[B(p), 1], [−1, 0]] with B_ij = ⟨p, [e_i, e_j]⟩; B is zero for joints with one dof. A map is symplectic if its
derivative J in these directions has JᵀΩ(p')J = Ω(p). To differentiate it suffices to start along any smooth curve with
the tangent ξ and to end in any chart that is the identity to first order, which is what `move` and `chart` are.
"""

from __future__ import annotations

import numpy as np
import pytest
from integrator_robots import SCHEMES, chart, move, tree
from random_trees import bracket

from mbsim_ros.dynamics import Factorisation, mass_matrix
from mbsim_ros.integrators.baselines.integrator import LieEuler, Rk4
from mbsim_ros.integrators.lie_variational.integrator import LieVariational

H = 0.03
KINDS = ["revolute", "continuous", "prismatic", "planar", "spherical", "floating"]
# Each kind at the root, and in mid-tree behind and before others; the side branch of `tree` hangs on the last link.
ROBOTS = (
    [((kind,), "fixed") for kind in KINDS]
    + [(("revolute", kind, "prismatic"), "fixed") for kind in KINDS]
    + [((kind,), "floating") for kind in KINDS]
    + [(("planar", "spherical"), "fixed"), (("spherical", "floating", "planar"), "floating")]
)


def start(model, seed=2):
    rng = np.random.default_rng(seed)
    v = 0.7 * rng.normal(size=model.nv)
    return move(model, model.neutral, rng.uniform(-0.8, 0.8, model.nv)), v


def form(model, p):
    """Ω(p) (2 nv, 2 nv)."""
    identity, nv = np.eye(model.nv), model.nv
    B = np.array([[p @ bracket(model, x, y) for y in identity] for x in identity])
    return np.block([[B, identity], [-identity, np.zeros((nv, nv))]])


def derivative(step, model, q, p, size=1.5e-4):
    """J (2 nv, 2 nv) of a step map, by central differences of fourth order, and p after the step."""
    q_next, p_next = step(q, p)

    def moved(direction, amount):
        at_q, at_p = step(move(model, q, amount * direction[: model.nv]), p + amount * direction[model.nv :])
        return np.concatenate([chart(model, q_next, at_q), at_p - p_next])

    columns = [
        (8 * (moved(e, size) - moved(e, -size)) - (moved(e, 2 * size) - moved(e, -2 * size))) / (12 * size)
        for e in np.eye(2 * model.nv)
    ]
    return np.array(columns).T, p_next


def defect(simulation):
    """Largest entry of JᵀΩ'J − Ω over the largest of Ω."""
    model = simulation.model
    q, v = start(model)

    def step(q, p):
        simulation.reset(q, Factorisation(model, mass_matrix(model, q)).solve(p))
        simulation.step()
        return simulation.q.copy(), getattr(simulation, "p", mass_matrix(model, simulation.q) @ simulation.v).copy()

    p = mass_matrix(model, q) @ v
    J, p_next = derivative(step, model, q, p)
    return np.abs(J.T @ form(model, p_next) @ J - form(model, p)).max() / np.abs(form(model, p)).max()


@pytest.mark.parametrize(("kinds", "base"), ROBOTS, ids=[f"{base}-{'-'.join(kinds)}" for kinds, base in ROBOTS])
@pytest.mark.parametrize(("quadrature", "retraction"), SCHEMES)
def test_a_step_is_symplectic(kinds, base, quadrature, retraction):
    simulation = LieVariational(tree(*kinds, base=base), H, quadrature=quadrature, retraction=retraction, tolerance=0.0)
    assert defect(simulation) < 1e-9


@pytest.mark.parametrize("kinds", [("spherical",), ("revolute", "floating")])
def test_a_composed_step_is_symplectic(kinds):
    assert defect(LieVariational(tree(*kinds), H, order=4)) < 1e-9


@pytest.mark.parametrize("scheme", [Rk4, LieEuler])
def test_the_measure_sees_what_is_not_symplectic(scheme):
    """Otherwise a test of zeros would pass."""
    assert defect(scheme(tree("revolute", "spherical", "prismatic"), H)) > 1e-7
