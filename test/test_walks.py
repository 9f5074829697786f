# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The walks through the code in docs/architecture.md: short, and each file is met by way of one before it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
# Found by a name in a file, a table or a folder, or started as a process: no import leads there.
FOUND_BY_NAME = {
    "integrators/lie_variational/capabilities.py", "integrators/lie_variational/integrator.py", "cli/launch.py",
    "launcher/node_tag.py", "node_stub", "nodes/physics/node.py", "nodes/controllers/walker_controller.py",
}  # fmt: skip


def walks() -> list[list[Path]]:
    tables = re.findall(r"\| \| file \|.*?\n\n", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [[(PAGE.parent / link).resolve() for link in re.findall(r"\]\((\S+?)\)", table)] for table in tables]


@pytest.mark.parametrize(("walk", "most"), list(zip(walks(), (20, 40), strict=True)), ids=["run", "launch"])
def test_a_walk_is_short_and_complete(walk, most):
    assert 10 < len(walk) <= most
    for k, file in enumerate(walk):
        assert file.is_file(), file
        if k and not any(str(file).endswith(name) for name in FOUND_BY_NAME):
            is_code = file.suffix == ".py"
            module = ".".join(file.relative_to(ROOT).with_suffix("").parts) if is_code else file.name
            assert any(module in before.read_text(encoding="utf-8") for before in walk[:k]), (
                f"{module}: nobody leads there"
            )
