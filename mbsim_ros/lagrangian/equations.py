# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The discrete equations of motion of a Lagrangian with constraints, W (2.27) and (5.4), as a map from node to node.

With the mean velocity d of a step from q to q₁ = q + h d, the discrete Lagrangian is a quadrature with places αᵢ and
weights wᵢ, L_d = h Σ wᵢ L(q + αᵢ h d, d). The discrete Legendre transforms of it, with forces F as W (5.2) has them
and G = ∂g/∂q, give the step:

    p  = Σ wᵢ [∂L/∂v − (1 − αᵢ) h (∂L/∂q + F)] − G(q)ᵀ σ,   g(q₁) = 0            for d and σ, W (2.27)
    p₁ = Σ wᵢ [∂L/∂v + αᵢ h (∂L/∂q + F)] + G(q₁)ᵀ σ₁,   p₁ = ∂L/∂v(q₁, v₁),   G(q₁) v₁ = 0   for v₁ and σ₁

The impulses are half a step of multipliers, σ = (h/2) γ and σ₁ = (h/2) λ₁ in W (2.34) and (2.36). Adding the second
equation of a step to the first of the next one gives W (2.26), whatever σ₁ is: it moves no place, and it makes the
momenta those of velocities that obey the constraints. Only together with G is ∂²L/∂v² inverted, which may be singular
then, as it is for quaternions, W (2.46).

The unknown is d and not q₁: what is left of a difference of two places, divided by h, is rounding (W 2.3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

from mbsim_ros.lagrangian.compiled import Compiled
from mbsim_ros.lagrangian.expressions import Traced, as_array, casadi_module, scalar_of, symbols, vector_of
from mbsim_ros.lagrangian.symbol import Symbol

# (wᵢ, αᵢ) of each rule
QUADRATURES = {
    "midpoint": ((1.0, 0.5),),  # W (2.23)
    "trapezoidal": ((0.5, 0.0), (0.5, 1.0)),  # RATTLE and velocity Verlet, where L is W (2.29)
    "endpoint": ((1.0, 1.0),),  # W (2.45), of first order for most L; the places of SHAKE and Verlet for W (2.29)
}


@dataclass(frozen=True)
class DiscreteEquations:
    """n coordinates and m constraints. Unknowns (n + m,) are (d, σ) and (v₁, σ₁)."""

    n: int
    m: int
    leave: Compiled  # (unknowns, q, p, t) → residual (n + m,) of the first line, its Jacobian
    arrive: Compiled  # (d, q, t) → Σ wᵢ [∂L/∂v + αᵢ h (∂L/∂q + F)] (n,)
    node: Compiled  # (unknowns, q₁, that) → residual of the second line, its Jacobian
    node_is_linear: bool  # L is quadratic in v
    momentum: Compiled  # (q, v) → ∂L/∂v
    energy: Compiled  # (q, v) → ∂L/∂v · v − L
    acceleration: Compiled  # (q, v, t) → right side (n + m,) and matrix of d/dt ∂L/∂v = ∂L/∂q + F + Gᵀλ, d²g/dt² = 0
    constraints: Compiled  # (q) → g (m,), G (m, n)


def discrete_equations(
    n: int, dt: float, quadrature: str, lagrangian: Traced, constraints: Traced | None, forces: Traced | None
) -> DiscreteEquations:
    """Call the user's functions with symbols, and differentiate."""
    casadi = casadi_module()
    q, v, t, h = symbols("q", n), symbols("v", n), symbols("t", 1), dt
    places, speeds = as_array(q), as_array(v)
    L = scalar_of("lagrangian", lagrangian, places, speeds)
    g = casadi.SX(0, 1) if constraints is None else vector_of("constraints", constraints, places)
    F = casadi.SX.zeros(n) if forces is None else vector_of("forces", forces, places, speeds, Symbol(t), size=n)
    m = g.numel()
    L_v, G = casadi.gradient(L, v), casadi.jacobian(g, q)
    partials = casadi.Function("partials", [q, v, t], [L_v, casadi.gradient(L, q) + F])
    bound = casadi.Function("constraints", [q], [g, G])

    d, sigma, p = symbols("d", n), symbols("sigma", m), symbols("p", n)
    q_next = q + h * d
    leaving, arriving = casadi.SX.zeros(n), casadi.SX.zeros(n)
    for weight, place in QUADRATURES[quadrature]:
        at_v, at_q = partials(q + place * h * d, d, t + place * h)
        leaving += weight * (at_v - (1.0 - place) * h * at_q)
        arriving += weight * (at_v + place * h * at_q)
    unknowns = casadi.vertcat(d, sigma)
    left = casadi.vertcat(leaving - G.T @ sigma - p, bound(q_next)[0] / h)
    at_node = casadi.vertcat(v, sigma)
    reached = casadi.vertcat(L_v - p - G.T @ sigma, G @ v)
    node_matrix = casadi.jacobian(reached, at_node)
    pushing = casadi.gradient(L, q) + F - casadi.jtimes(L_v, q, v)
    return DiscreteEquations(
        n, m,
        Compiled("leave", [unknowns, q, p, t], left, casadi.jacobian(left, unknowns)),
        Compiled("arrive", [d, q, t], arriving),
        Compiled("node", [at_node, q, p], reached, node_matrix),
        not casadi.depends_on(node_matrix, at_node),
        Compiled("momentum", [q, v], L_v),
        Compiled("energy", [q, v], casadi.dot(L_v, v) - L),
        Compiled("acceleration", [q, v, t], casadi.vertcat(pushing, -casadi.jtimes(G @ v, q, v)), node_matrix),
        Compiled("constraints", [q], g, G),
    )  # fmt: skip
