# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""One planned process: which executable, with which arguments, environment and output."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import yaml

from mbsim_ros.launcher.values import ParameterValue


@dataclass(frozen=True)
class InlineParameter:
    """``<param name="…" value="…"/>``."""

    name: str
    value: ParameterValue


@dataclass(frozen=True)
class NodeSpec:
    """A node as the launch file describes it, every substitution done."""

    executable: str
    arguments: tuple[str, ...] = ()
    ros_arguments: tuple[str, ...] = ()
    name: str | None = None
    namespace: str | None = None
    global_parameters: tuple[tuple[str, str], ...] = ()  # of <set_parameter>
    parameters: tuple[InlineParameter | Path, ...] = ()  # in the order of the file; a Path is a parameter file
    remappings: tuple[tuple[str, str], ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    output: str = "log"
    shutdown_on_exit: bool = False
    label: str = ""

    @property
    def parameter_key(self) -> str:
        """Which nodes an inline parameter is for.

        With name and namespace the key is the node itself and beats every entry of a parameter file before it;
        otherwise it is the wildcard, which a file's entry for the node beats. That is ros2 launch's rule.
        """
        if self.name is None or self.namespace is None:
            return "/**"
        return f"{self.namespace.rstrip('/')}/{self.name}"

    def command_line(self, parameter_folder: Path) -> list[str]:
        """Arguments as ros2 launch orders them; inline parameters are written to files in parameter_folder.

        rcl lets a later rule win over an earlier one of the same key, so this order is the precedence.
        """
        command = [self.executable, *self.arguments]
        if self.ros_arguments:
            command += ["--ros-args", *self.ros_arguments]
        command.append("--ros-args")
        if self.name is not None:
            command += ["-r", f"__node:={self.name}"]
        if self.namespace is not None:
            command += ["-r", f"__ns:={self.namespace}"]
        for name, value in self.global_parameters:
            command += ["-p", f"{name}:={value}"]
        for number, parameter in enumerate(self.parameters):
            if isinstance(parameter, InlineParameter):
                file = parameter_folder / f"{self.label}_{number}.yaml"
                content = {self.parameter_key: {"ros__parameters": {parameter.name: parameter.value}}}
                file.write_text(yaml.safe_dump(content))
            else:
                file = parameter
            command += ["--params-file", str(file)]
        for source, target in self.remappings:
            command += ["-r", f"{source}:={target}"]
        return command
