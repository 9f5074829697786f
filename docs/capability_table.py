# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The tables of what there is: of integrators.md from the rows of the schemes, of contact.md from the laws.

The site is built with the tables of now; `python docs/capability_table.py` writes them into the pages of the checkout.
"""

from __future__ import annotations

import re
from pathlib import Path

from mbsim_ros.contact.law_registry import law_names, law_summary
from mbsim_ros.integrators.capability import FEATURES
from mbsim_ros.integrators.registry import rows

DOCS = Path(__file__).resolve().parent
BETWEEN = re.compile(r"(<!-- (capability table|contact laws) -->\n).*?(<!-- end -->)", re.DOTALL)
PAGES = ("integrators", "contact")


def table() -> str:
    """The rows in Markdown."""
    lines = ["| name | use it | " + " | ".join(FEATURES.values()) + " |", "|---|---" + "|:-:" * len(FEATURES) + "|"]
    for row in rows():
        name = f"`{row.name}`" + (f", `order={row.order}`" if row.order != 2 else "")
        use = row.use + (f"; for {row.only}" if row.only else "")
        lines.append(f"| {name} | {use} | " + " | ".join("●" if getattr(row, each) else "" for each in FEATURES) + " |")
    return "\n".join(lines) + "\n"


def law_table() -> str:
    """The laws of contact in Markdown, with the schemes that have them."""
    lines = ["| law | | with |", "|---|---|---|"]
    for law in law_names():
        schemes = dict.fromkeys(f"`{row.name}`" for row in rows() if law in row.contact_laws)
        lines.append(f"| `{law}` | {law_summary(law)} | {', '.join(schemes)} |")
    return "\n".join(lines) + "\n"


def filled(page: str) -> str:
    """A page with the tables of now between their marks."""
    tables = {"capability table": table, "contact laws": law_table}
    return BETWEEN.sub(lambda found: found[1] + tables[found[2]]() + found[3], page)


if __name__ == "__main__":
    for name in PAGES:
        path = DOCS / f"{name}.md"
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
