# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W's Tables 2.1 and 2.2 from their Lagrangians and constraints alone: `python3 examples/lagrangian_tables.py [STEP…]`.

A free rigid body in quaternions, W (2.46), and a double spherical pendulum, W (2.54). Steps are those of the tables,
0.0001 0.001 0.01 0.1 s, if none are given: half a minute.
"""

import sys

import numpy as np

from mbsim_ros import variational_integrator
from mbsim_ros.experiments.wendlandt import table_2_1, table_2_2
from mbsim_ros.integrators.particles.energy_momentum import energy_momentum

SECONDS = 30.0


def body_lagrangian(q, v):
    """W (2.46): ω = 2 q̄ ⋆ q̇ in axes of the body, quaternions as (w, x, y, z)."""
    rate = 2.0 * (q[0] * v[1:] - v[0] * q[1:] - np.cross(q[1:], v[1:]))
    return 0.5 * (table_2_1.MOMENTS * rate) @ rate


def unit_length(q):
    """The constraint of a quaternion."""
    return q @ q - 1.0


def pendulum_lagrangian(q, v):
    """Two point masses under gravity."""
    return v[:3] @ v[:3] + 1.75 * v[3:] @ v[3:] - 9.81 * (2.0 * q[2] + 3.5 * q[5])


def bar_lengths(q):
    """W (2.54)."""
    first, second = q[:3], q[3:] - q[:3]
    return np.array([first @ first - 16.0, second @ second - 9.0])


def places(lagrangian, constraints, h, first, second, steps):
    """Places (steps + 1, n) from the first two, momenta and energies of the steps' middles (steps, …)."""
    integrator = variational_integrator(lagrangian, constraints, q=first, dt=h)
    integrator.start_between(first, second)
    motion = integrator.run(steps - 1)
    q = np.concatenate([[first], motion.q])
    return q, motion.p, integrator.energy((q[1:] + q[:-1]) / 2, np.diff(q, axis=0) / h)


def spatial_momentum(q, p):
    """Of a body: a turn of the world by η moves q by η ⋆ q / 2."""
    return 0.5 * (q[:, :1] * p[:, 1:] - p[:, :1] * q[:, 1:] - np.cross(p[:, 1:], q[:, 1:]))


def error(values, standard):
    """W (2.53) and (2.56)."""
    return float(np.linalg.norm(values - standard, axis=1).mean() / values.shape[1])


def rows_2_1(steps, standard):
    """Rows (h, quaternion, energy and momentum error); standard: quaternions every 0.1 s (301, 4)."""
    fine, start = table_2_1.FIRST_STEP, np.array([1.0, 0.0, 0.0, 0.0])
    second = start + fine * np.array([0.0, *(0.5 * table_2_1.RATE)])
    body = (body_lagrangian, unit_length)
    path, p, energies = places(*body, fine, start, second / np.linalg.norm(second), round(max(steps) / fine))
    true_energy, true_momentum = energies[0], spatial_momentum(path[1:2], p[:1])
    for h in steps:
        q, p, energies = places(*body, h, start, path[round(h / fine)], round(SECONDS / h))
        off = error(q[:: round(0.1 / h)], standard)
        yield h, off, error(energies[:, None], true_energy), error(spatial_momentum(q[1:], p), true_momentum)


def rows_2_2(steps, standard):
    """Rows (h, position, energy and momentum error); standard: places every 0.0001 s, of the energy-momentum scheme."""
    system, start, speeds = table_2_2.pendulum()
    true_energy = float(system.energy(start, system.masses[:, None] * speeds))
    true_momentum = about_z(start[None], (system.masses[:, None] * speeds)[None])[0]
    for h in steps:
        every = standard[:: round(h / table_2_2.STEPS[0])].reshape(-1, 6)
        q, p, energies = places(pendulum_lagrangian, bar_lengths, h, every[0], every[1], round(SECONDS / h))
        momenta = about_z(q[1:].reshape(-1, 2, 3), p.reshape(-1, 2, 3))
        yield h, error(q, every), error(energies[:, None], true_energy), error(momenta[:, None], true_momentum)


def about_z(q, p):
    """Angular momentum about the vertical of places and momenta (steps, masses, 3)."""
    return np.cross(q, p)[..., 2].sum(axis=-1)


def standards():
    """What W compares with: the body at h = 0.0001 s, and the energy-momentum scheme at that step."""
    _, (body,) = table_2_1.simulate(lambda share, text: None, steps=(1e-4,))
    system, start, speeds = table_2_2.pendulum()
    places, _ = energy_momentum(system, 1e-4, start, system.masses[:, None] * speeds, round(SECONDS / 1e-4))
    return body.q[::1000], places


if __name__ == "__main__":
    asked = tuple(float(word) for word in sys.argv[1:]) or table_2_1.STEPS
    for title, rows, standard in zip(("2.1", "2.2"), (rows_2_1, rows_2_2), standards(), strict=True):
        print(f"Table {title}\nh [s]     position    energy      momentum")
        for row in rows(asked, standard):
            print("{:<8g}  {:.3e}   {:.3e}   {:.3e}".format(*row))
