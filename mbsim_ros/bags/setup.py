"""The setup of a simulation as recordings keep it: robot, sidecar, parameters, and what it was computed with."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mbsim_ros.model.assembly import make_model
from mbsim_ros.model.model import Model
from mbsim_ros.model.sidecar import with_sidecar
from mbsim_ros.model.sidecar_parser import parse_sidecar
from mbsim_ros.model.urdf_parser import parse_urdf
from mbsim_ros.sim.from_parameters import simulation_from
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.terrain_parameter import FILE

COMPUTED_WITH = ("cpu", "machine", "numba", "llvmlite")  # what equal bits depend on


@dataclass(frozen=True)
class SimulationSetup:
    """All that it takes to make the same simulation again."""

    robot_description: str
    sidecar: str  # text; "" for none
    parameters: Mapping[str, Any]  # of the physics node
    version: str  # of this package
    computed_with: Mapping[str, str]
    stamp: int = 0  # ns from which on the parameters hold
    changed: tuple[str, ...] = ()  # parameters that were set at this stamp
    has_journal: bool = False  # whether physics keeps one

    @classmethod
    def from_json(cls, text: str) -> SimulationSetup:
        """From the text on the topic simulation_setup. Raises ValueError if it is not such a text."""
        try:
            given = json.loads(text)
            computed_with = {name: str(given[name]) for name in COMPUTED_WITH if name in given}
            return cls(
                given["robot_description"], given["sidecar"], given["parameters"], str(given.get("version", "")),
                computed_with, int(given.get("stamp_ns", 0)), tuple(given.get("changed", ("gravity",))),
                bool(given.get("has_journal")),
            )  # fmt: skip
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise ValueError(f"simulation_setup: not the setup of a simulation: {error!r}") from None

    def model(self) -> Model:
        """The robot."""
        robot = parse_urdf(self.robot_description)
        base = self.parameters["base"]
        if not self.sidecar:
            return make_model(robot, base)
        settings = parse_sidecar(self.sidecar, robot, file="sidecar of the recording")
        return make_model(with_sidecar(robot, settings), base, settings)

    def simulation(self) -> Simulation:
        """The simulation in its initial state."""
        if self.parameters["terrain"].endswith(FILE):  # physics puts the text of the file in its place
            raise ValueError("simulation_setup: terrain: expected a word or a text, got the name of a file")
        return simulation_from(self.model(), self.parameters)


def computed_with() -> dict[str, str]:
    """What this machine computes with: equal bits can be expected where it is the same."""
    import llvmlite
    import llvmlite.binding
    import numba

    return {
        "cpu": str(llvmlite.binding.get_host_cpu_name()),
        "machine": platform.machine(),
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
    }
