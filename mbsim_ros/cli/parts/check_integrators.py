# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What ``mbsim check`` says of integrators: which can run the robot as it is, and what stands in the way of others."""

from __future__ import annotations

import textwrap
import warnings

from mbsim_ros.model.model import Model

STEP = 1e-3  # s: no integrator minds which
WIDTH = 100


def suitable_integrators(model: Model) -> tuple[list[str], dict[str, str]]:
    """Those that run what `Simulation(robot)` would make of it, and of the others what stands in their way."""
    from mbsim_ros.dynamics.inverse import GRAVITY
    from mbsim_ros.integrators.integrator import IntegrationProblem
    from mbsim_ros.integrators.registry import suitable
    from mbsim_ros.sim.surroundings.scene import make_scene

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # points that stand in for shapes are told of elsewhere
        scene = make_scene(model, STEP, GRAVITY, None, None, None, None, None)
    found = suitable(IntegrationProblem(model, STEP, GRAVITY, scene))
    fit = [row.title for row, ways in found if not ways]
    return fit, {row.title: "; ".join(ways) for row, ways in found if ways}


def integrators_in_lines(model: Model) -> str:
    """The same in words, those with the same reason together."""
    fit, others = suitable_integrators(model)
    lines = [f"can be run with {', '.join(fit)}" if fit else "no integrator can run it as it is"]
    for why in dict.fromkeys(others.values()):
        lines.append(f"not with {', '.join(name for name, its in others.items() if its == why)}: {why}")
    return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False) for line in lines)
