"""The arrays that a step works on, in named groups: what the kernels take instead of forty arguments.

Numba passes a named tuple of arrays as it passes the arrays. Sizes: nv and nq of the tree, nu independent velocities
(v = D u), nb bodies.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Tree(NamedTuple):
    """The model, unchanging."""

    ints: Any  # (nb, INT_COLUMNS)
    floats: Any  # (nb, FLOAT_COLUMNS)
    dof_parent: Any  # (nv,)
    dof_q: Any  # (nv,) place in q of a dof with one coordinate, -1 for the dofs of groups


class Scheme(NamedTuple):
    """Which variational integrator."""

    retraction: int
    quadrature: int
    gravity: Any  # (3,)


class State(NamedTuple):
    """What a step changes; with the step count all that a snapshot needs of the mechanics."""

    q: Any  # (nq,)
    p: Any  # (nv,) momenta of the tree at the node
    mu: Any  # (6,) spatial momentum of a floating base's tree
    u: Any  # (nu,) mean velocity of the last step
    previous: Any  # (nu,) that of the step before
    motor_position: Any  # (nu,) integral of u
    motor_momentum: Any  # (nu,) of the rotors, with the motors' impulses, at the node
    memory: Any  # (MEMORY,) of the solver


class Coupling(NamedTuple):
    """v = D u, row by row: entries start[i] … start[i + 1] of column and ratio."""

    is_identity: bool
    start: Any  # (nv + 1,)
    column: Any
    ratio: Any
    rotor: Any  # (nu,) rotor inertia of a column


class Drives(NamedTuple):
    """Drives of joints (nv) or motors (nu): effort + kp (position − r) + kd (velocity − v), cut at the limit."""

    effort: Any
    kp: Any
    kd: Any
    position: Any
    velocity: Any
    limit: Any


class Joints(NamedTuple):
    """What resists the joints by itself, per dof (nv)."""

    damping: Any
    friction: Any
    friction_speed: Any  # (1,) below it Coulomb friction is viscous
    lower: Any
    upper: Any
    stop_stiffness: Any
    stop_damping: Any


class Contact(NamedTuple):
    """Points that may touch the ground, and the state of each; no points where the robot floats freely."""

    bodies: Any  # (points,) index of the body
    geometry: Any  # (points, 4) place in the body frame, radius
    kind: int  # of the ground, with its data and grid: contact.terrain_kernel
    data: Any
    grid: Any
    parameters: Any
    modes: Any
    deflections: Any
    results: Any
    blocks: Any
    active: Any
    energies: Any


class Work(NamedTuple):
    """Memory without meaning between steps."""

    trig: Any
    rows: Any
    dofs: Any
    M: Any  # (nv, nv), zero outside the pattern of the tree
    reduced: Any  # (nu, nu)
    vectors: Any  # (VECTORS, max(nq, nv, nu, 18))
    stage: Any  # (nq,)
    none: Any  # (0, 6)
    twists: Any  # (nb, 6) spatial twists of the bodies in the middle of the step
    wrenches: Any  # (nb, 6) spatial wrenches on them
