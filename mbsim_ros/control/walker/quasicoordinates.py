# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walker's equations of motion as Nelson and Quinn write them: limbs, joined by transformations, N (1)–(49).

Eight limbs, chains of bodies that each have a base of their own, are written in absolute angular velocities ω, N (1).
Transformations then say what the limbs share and what drives them:

    ω_G = C₀ᴿ D₀ D₁ D₂ D₃ α'_G3                                                                          N (40)

    C₀ᴿ, D₀   ω of each limb from its joint rates and Euler rates; shins measured from their frame, N (29)
    D₁        all limbs have one top frame                                                               68 → 26
    D₂        the bottom limbs have one bottom frame                                                     26 → 23
    D₃        five motors drive the 17 joints                                                            23 → 11

Frames that several limbs share are partitioned among them, N (41). It is an oracle for the simulator, written to be
compared with the paper, not to be fast; where the paper is misprinted the line says what is right. Coordinates: the
position of the top frame in the world, Euler angles with R = Rx(a) Ry(b) Rz(c), then angles of joints or motors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbsim_ros.control.walker.legs import femur_sign, legs
from mbsim_ros.model.model import Model

LIMBS = legs("B") + legs("A")  # limbs 1 to 4 have the bottom frame as their second body, 5 to 8 not
GRAVITY = np.array([0.0, 0.0, -9.81])
I3 = np.eye(3)


@dataclass(frozen=True)
class Body:
    """A body of a limb in its own frame: centre of mass S, place L of the next body's frame, axis of its joint."""

    mass: float
    inertia: np.ndarray  # (3, 3) about the centre of mass
    S: np.ndarray
    L: np.ndarray
    axis: np.ndarray | None  # None: the base, which has Euler angles


@dataclass(frozen=True)
class Limb:
    """A chain of bodies from the top frame to a shin, whose angle is measured from the frame, not from its femur."""

    name: str
    bodies: tuple[Body, ...]

    @property
    def n(self) -> int:
        """Number of bodies."""
        return len(self.bodies)


def walker_limbs(model: Model) -> tuple[Limb, ...]:
    """The eight limbs of a walker; the frames' masses and inertias are partitioned, N (41), ERRATA C7."""
    description = model.description
    inertials = {link.name: link.inertial for link in description.links}
    y, z = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])

    def body(link: str, share: float, following: str | None, axis: np.ndarray | None) -> Body:
        inertial = inertials[link]
        if inertial is None:
            raise ValueError(f"link '{link}': expected an inertial")
        place = np.zeros(3) if following is None else np.array(description.joint(following).origin.xyz)
        pose = inertial.origin.matrix()
        inertia = pose[:3, :3] @ inertial.inertia @ pose[:3, :3].T
        return Body(inertial.mass * share, inertia * share, pose[:3, 3], place, axis)

    limbs = []
    for leg in LIMBS:
        is_bottom = leg.startswith("B")
        chain = [body("top", 1.0 / 8.0, "body" if is_bottom else f"{leg}_f", None)]
        if is_bottom:
            chain.append(body("bottom", 1.0 / 4.0, f"{leg}_f", z))
        chain += [body(f"{leg}_femur", 1.0, f"{leg}_t", y), body(f"{leg}_tibia", 1.0, None, y)]
        limbs.append(Limb(leg, tuple(chain)))
    return tuple(limbs)


def tilde(a: np.ndarray) -> np.ndarray:
    """The matrix of a × …, N (6)."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    """The rotation about a unit axis."""
    k = tilde(axis)
    return np.asarray(I3 + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k)


def euler_matrix(angles: np.ndarray) -> np.ndarray:
    """C_N1 = Rx(a) Ry(b) Rz(c)."""
    x, y, z = I3
    return turned(x, angles[0]) @ turned(y, angles[1]) @ turned(z, angles[2])


def euler_block(angles: np.ndarray) -> np.ndarray:
    """D'₁ of N (42): the base's angular velocity in its own axes is D'₁ times the Euler rates."""
    _, b, c = angles
    cb, sb, cc, sc = np.cos(b), np.sin(b), np.cos(c), np.sin(c)
    return np.array([[cb * cc, sc, 0.0], [-cb * sc, cc, 0.0], [sb, 0.0, 1.0]])


def euler_block_rate(angles: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """The time derivative of D'₁, the only part of D that changes (ERRATA C2)."""
    _, b, c = angles
    _, bd, cd = rates
    cb, sb, cc, sc = np.cos(b), np.sin(b), np.cos(c), np.sin(c)
    return np.array([
        [-sb * cc * bd - cb * sc * cd, cc * cd, 0.0], [sb * sc * bd - cb * cc * cd, -sc * cd, 0.0], [cb * bd, 0.0, 0.0]
    ])  # fmt: skip


def limb_equations(
    limb: Limb, alpha: np.ndarray, rate: np.ndarray, gravity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """M and h with M α'' = h + τ for one limb by itself, N (18)–(20), α = (R, Euler angles, joint angles)."""
    n = limb.n
    C_N = _orientations(limb, alpha)
    D, D_rate = _limb_D(limb, alpha, rate)
    C_R = _relative_to_absolute(limb, C_N)
    Omega = D @ rate[3:]  # N (13)
    omega = C_R @ Omega  # N (10)
    w = omega.reshape(n, 3)
    Phi, Phi_rate = _global_velocity(limb, C_N, w)
    omega_tilde = _diagonal([tilde(each) for each in w])
    inertia = _diagonal([body.inertia for body in limb.bodies])  # N (9)
    mass = _diagonal([body.mass * I3 for body in limb.bodies])  # N (3)
    I_v = np.vstack([I3] * n)  # N (2)
    core = np.block([
        [I_v.T @ mass @ I_v, I_v.T @ mass @ Phi],
        [Phi.T @ mass @ I_v, Phi.T @ mass @ Phi + inertia],
    ])  # fmt: skip
    xi = omega_tilde @ Omega + D_rate @ rate[3:]  # N (20): Ḋα' (ERRATA C2)
    Gamma = Phi_rate @ omega + Phi @ C_R @ xi - I_v @ gravity  # N (20): Φ̇, not its transpose (ERRATA C1)
    bias = np.concatenate([
        I_v.T @ mass @ Gamma,
        Phi.T @ mass @ Gamma + omega_tilde @ inertia @ omega + inertia @ C_R @ xi,  # N (19), ERRATA C3
    ])  # fmt: skip
    to_omega = _block_diagonal(I3, C_R @ D)  # N (17)
    return to_omega.T @ core @ to_omega, -to_omega.T @ bias


def D1() -> np.ndarray:
    """N (44)–(46), (68, 26): each limb has the base's six coordinates and its own 3 (bottom) or 2 (top) angles."""
    rows, own = [], 6
    for leg in LIMBS:
        count = 3 if leg.startswith("B") else 2
        block = np.zeros((6 + count, 26))
        block[:6, :6] = np.eye(6)
        block[6:, own : own + count] = np.eye(count)
        own += count
        rows.append(block)
    return np.vstack(rows)


def D2() -> np.ndarray:
    """N (47), (26, 23): one bottom frame for the four bottom limbs."""
    matrix = np.zeros((26, 23))
    matrix[:6, :6] = np.eye(6)
    for k in range(4):
        matrix[6 + 3 * k, 6] = 1.0
        matrix[7 + 3 * k : 9 + 3 * k, 7 + 2 * k : 9 + 2 * k] = np.eye(2)
    matrix[18:, 15:] = np.eye(8)
    return matrix


def D3(reversed_femurs: bool = False) -> np.ndarray:
    """N (48), (49), (23, 11): five motors, in the order body, femurs and shins of B, femurs and shins of A."""
    matrix = np.zeros((23, 11))
    matrix[:7, :7] = np.eye(7)
    for k, leg in enumerate(LIMBS):
        motor = 7 if leg.startswith("B") else 9
        matrix[7 + 2 * k, motor] = femur_sign(leg) * (-1.0 if reversed_femurs else 1.0)  # D_F
        matrix[8 + 2 * k, motor + 1] = 1.0  # D_T
    return matrix


def joint_rates_matrix() -> np.ndarray:
    """Rates of the 17 joints from those of the paper's coordinates (17, 23): a shin's joint turns against its femur."""
    matrix = np.hstack([np.zeros((17, 6)), np.eye(17)])
    for k in range(8):
        matrix[2 + 2 * k, 7 + 2 * k] = -1.0
    return matrix


def accelerations(
    limbs: tuple[Limb, ...], alpha: np.ndarray, rate: np.ndarray, tau: np.ndarray | None = None,
    D: np.ndarray | None = None, gravity: np.ndarray = GRAVITY, rotor_inertia: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """α'' of the coordinates that remain after D (23, k), for example D₃; default all 23.

    alpha, rate: (23,) position, Euler angles and 17 angles, the body's and then in the order of `LIMBS`, shins measured
    from their frame, N (47). tau: (k,) forces on the remaining coordinates. rotor_inertia: (17,) on joints, same order.
    """
    D = np.eye(23) if D is None else D
    down = D1() @ D2()
    M, h = np.zeros((23, 23)), np.zeros(23)
    first = 0
    for limb in limbs:
        size = 6 + limb.n - 1
        T = down[first : first + size]
        M_limb, h_limb = limb_equations(limb, T @ alpha, T @ rate, gravity)
        M += T.T @ M_limb @ T
        h += T.T @ h_limb
        first += size
    if rotor_inertia is not None:
        B = joint_rates_matrix()
        M += B.T @ np.diag(rotor_inertia) @ B
    load = np.zeros(D.shape[1]) if tau is None else np.asarray(tau, dtype=float)
    return np.linalg.solve(D.T @ M @ D, D.T @ h + load)


def _orientations(limb: Limb, alpha: np.ndarray) -> list[np.ndarray]:
    """C_Ni of each body; the shin's angle is measured from the frame, so its femur does not turn it."""
    C_N = [euler_matrix(alpha[3:6])]
    for k, body in enumerate(limb.bodies[1:], start=1):
        parent = C_N[k - 2] if k == limb.n - 1 else C_N[k - 1]
        if body.axis is None:
            raise ValueError(f"limb '{limb.name}': only its first body may be a base")
        C_N.append(parent @ turned(body.axis, alpha[5 + k]))
    return C_N


def _relative_to_absolute(limb: Limb, C_N: list[np.ndarray]) -> np.ndarray:
    """C^R of N (11), with the column of the femur emptied below it, N (29)."""
    n = limb.n
    C_R = np.zeros((3 * n, 3 * n))
    for i in range(n):
        for j in range(i + 1):
            if not (i == n - 1 and j == n - 2):
                C_R[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = C_N[i].T @ C_N[j]
    return C_R


def _limb_D(limb: Limb, alpha: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """D of N (14), (42), (43) and its time derivative, (3n, n + 2)."""
    n = limb.n
    D, D_rate = np.zeros((3 * n, n + 2)), np.zeros((3 * n, n + 2))
    D[:3, :3] = euler_block(alpha[3:6])
    D_rate[:3, :3] = euler_block_rate(alpha[3:6], rate[3:6])
    for k, body in enumerate(limb.bodies[1:], start=1):
        D[3 * k : 3 * k + 3, 2 + k] = body.axis
    return D, D_rate


def _global_velocity(limb: Limb, C_N: list[np.ndarray], w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Φ of N (7), and its time derivative by N (8)."""
    n = limb.n
    Phi, Phi_rate = np.zeros((3 * n, 3 * n)), np.zeros((3 * n, 3 * n))
    for i in range(n):
        for j in range(i + 1):
            arm = tilde(limb.bodies[j].S if i == j else limb.bodies[j].L).T
            block = slice(3 * i, 3 * i + 3), slice(3 * j, 3 * j + 3)
            Phi[block] = C_N[j] @ arm
            Phi_rate[block] = C_N[j] @ tilde(w[j]) @ arm
    return Phi, Phi_rate


def _diagonal(blocks: list[np.ndarray]) -> np.ndarray:
    out = np.zeros((3 * len(blocks), 3 * len(blocks)))
    for k, block in enumerate(blocks):
        out[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = block
    return out


def _block_diagonal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.block([[a, np.zeros((a.shape[0], b.shape[1]))], [np.zeros((b.shape[0], a.shape[1])), b]])
