# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A file with everything in it, against what the real `ros2 launch` (launch 3.7.1, launch_ros 0.28) made of it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
import yaml

from mbsim_ros.launcher.plan import plan_launch

FILE = Path(__file__).parent / "every_tag.launch.xml"
REFERENCE = json.loads((Path(__file__).parents[1] / "reference/ros2_launch_every_tag.json").read_text())


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: " ".join(case["arguments"]) or "no arguments")
def test_every_tag(case, prefix):
    arguments = dict(argument.split(":=") for argument in case["arguments"])
    plan = plan_launch(FILE, arguments)
    got = []
    with tempfile.TemporaryDirectory() as folder:
        for node in plan.nodes:
            command = node.command_line(Path(folder))[1:]
            for number, word in enumerate(command):
                if word == "--params-file":
                    command[number + 1] = yaml.safe_load(Path(command[number + 1]).read_text())
            probes = {name: value for name, value in node.environment.items() if name.startswith("PROBE_")}
            got.append({"argv": [_shown(word, prefix) for word in command], "env": probes})
    assert got == case["nodes"]


def _shown(word, prefix: Path):
    return word.replace(str(prefix), "PREFIX") if isinstance(word, str) else word
