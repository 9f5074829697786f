# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The eight-legged walker of N 5 with the numbers of `reference/nelson_walker.json`."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import transforms3d

from mbsim_ros.model.loading import load_urdf

REFERENCE = Path(__file__).parent.parent / "reference"
BOTTOM, TOP = ("BFL", "BFR", "BRL", "BRR"), ("AFL", "AFR", "ARL", "ARR")  # limbs 1 to 4, 5 to 8, ERRATA C8
LEGS = BOTTOM + TOP
SIGN = {"F": 1.0, "R": -1.0}  # N (49), by front and rear


@functools.cache
def walker():
    return load_urdf((REFERENCE / "walker_dimensions.urdf").read_text(), base="floating")


@functools.cache
def cases():
    found = json.loads((REFERENCE / "nelson_walker.json").read_text())["acceleration_cases"]
    return {case["coupled"]: case for case in found}


def five_motors():
    """N (48): the femurs of four legs on one motor, their tibiae on another, for each body; tibiae as in N (29)."""
    motors = {"body_motor": {"body": 1.0}}
    for group, legs in (("B", BOTTOM), ("A", TOP)):
        femurs = {f"{leg}_f": SIGN[leg[1]] for leg in legs}
        # The angle of a tibia from the body is that of its joint plus the femur's: its joint turns back with the femur.
        motors[f"femur_{group}"] = femurs | {f"{leg}_t": -SIGN[leg[1]] for leg in legs}
        motors[f"tibia_{group}"] = {f"{leg}_t": 1.0 for leg in legs}
    return motors


def seventeen_motors():
    """N (47): every joint on its own, tibiae measured from the body."""
    motors = {"body_motor": {"body": 1.0}}
    for leg in LEGS:
        motors[f"{leg}_femur_motor"] = {f"{leg}_f": 1.0, f"{leg}_t": -1.0}
        motors[f"{leg}_tibia_motor"] = {f"{leg}_t": 1.0}
    return motors


def by_joint(values):
    """From N's order, tibiae relative to the body, to joints by name, tibiae relative to the femur."""
    found = {"body": values[0]}
    for k, leg in enumerate(LEGS):
        femur, tibia = values[1 + 2 * k], values[2 + 2 * k]
        found |= {f"{leg}_f": femur, f"{leg}_t": tibia - femur}
    return found


def euler_matrix(angles):
    return transforms3d.euler.euler2mat(*angles, "rxyz")


def euler_rates(angles):
    """E with ω (body axes) = E angles', for R = Rx(a) Ry(b) Rz(c)."""
    _, b, c = angles
    cb, sb, cc, sc = np.cos(b), np.sin(b), np.cos(c), np.sin(c)
    return np.array([[cb * cc, sc, 0.0], [-cb * sc, cc, 0.0], [sb, 0.0, 1.0]])


def state(case):
    """q (nq,) and v (nv,) of a case."""
    model = walker()
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    angles = case["euler_xyz"]
    w, x, y, z = transforms3d.quaternions.mat2quat(euler_matrix(angles))
    q[:7] = [*case["R"], x, y, z, w]
    v[:3] = euler_matrix(angles).T @ case["Rdot"]
    v[3:6] = euler_rates(angles) @ case["eulerdot"]
    positions, rates = by_joint(case["q17_tibia_rel_body"]), by_joint(case["qd17"])
    for joint in model.joints:
        q[joint.iq], v[joint.iv] = positions[joint.name], rates[joint.name]
    return q, v


def base_acceleration(case, v, a):
    """(R'', Euler angles'') from the accelerations of the base in its own axes."""
    angles, rates = np.array(case["euler_xyz"]), np.array(case["eulerdot"])
    R, E = euler_matrix(angles), euler_rates(angles)
    E_dot = euler_rates(angles + 1e-100j * rates).imag / 1e-100  # complex step: exact to rounding
    linear = R @ (a[:3] + np.cross(v[3:6], v[:3]))
    return np.concatenate([linear, np.linalg.solve(E, a[3:6] - E_dot @ rates)])
