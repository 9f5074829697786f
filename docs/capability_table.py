# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The capability table of integrators.md, from the rows of the schemes.

The site is built with the table of now; `python docs/capability_table.py` writes it into the page of the checkout.
"""

from __future__ import annotations

import re
from pathlib import Path

from mbsim_ros.integrators.capability import FEATURES
from mbsim_ros.integrators.registry import rows

PAGE = Path(__file__).resolve().parent / "integrators.md"
BETWEEN = re.compile(r"(<!-- capability table -->\n).*?(<!-- end -->)", re.DOTALL)


def table() -> str:
    """The rows in Markdown."""
    lines = ["| name | use it | " + " | ".join(FEATURES.values()) + " |", "|---|---" + "|:-:" * len(FEATURES) + "|"]
    for row in rows():
        name = f"`{row.name}`" + (f", `order={row.order}`" if row.order != 2 else "")
        use = row.use + (f"; {row.only}" if row.only else "")
        lines.append(f"| {name} | {use} | " + " | ".join("●" if getattr(row, each) else "" for each in FEATURES) + " |")
    return "\n".join(lines) + "\n"


def filled(page: str) -> str:
    """A page with the table of now between its marks."""
    return BETWEEN.sub(lambda found: found[1] + table() + found[2], page)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
