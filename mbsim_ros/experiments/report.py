# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The report: one page with every experiment, printed values beside ours, figures, errata and notes."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mbsim_ros
from mbsim_ros.experiments.comparing import (
    DIGITS,
    MARKS,
    MOST_DIGITS,
    VERDICTS,
    deviation,
    digits_beside,
    text,
    verdict,
)
from mbsim_ros.experiments.experiment import find
from mbsim_ros.experiments.timing import is_time

# The documents by the first word of an experiment's name, in the order of the report.
DOCUMENTS = {
    "wendlandt": "Wendlandt: Control and Simulation of Multibody Systems (1997)",
    "kobilarov": "Kobilarov: Solvability of Geometric Integrators for Multi-body Systems (2014)",
    "nelson": "Nelson, Quinn: A Quasicoordinate Formulation for Dynamic Simulation of Complex Multibody Systems "
    "with Constraints",
    "goetz": "Götz: Structure Preserving Simulation for a Manipulator with Multi-articular Elastic Couplings (2024)",
    "hemami": "Hemami: A General Framework for Rigid Body Dynamics, Stability and Control (2001)",
}
FEW = 12  # values of a list that are shown beside others

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>mbsim_ros: the documents' experiments</title>
<style>
:root {{ color-scheme: light }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; color: #222;
  background: #fff }}
a {{ color: #0060a0 }}
h1 {{ line-height: 1.2 }}
h2 {{ margin: 3.5rem 0 0; color: #0072b2; border-bottom: 2px solid #0072b2 }}
h3 {{ margin: 2.5rem 0 .2rem }}
table {{ border-collapse: collapse; margin: 1rem 0; max-width: 100% }}
td, th {{ padding: .25rem .8rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top }}
th {{ font-weight: 600; border-bottom: 2px solid #999 }}
th.number, td.number {{ text-align: right; font-variant-numeric: tabular-nums }}
td.number, td.name {{ white-space: nowrap }}
td.off {{ color: #666 }}
td.met {{ color: #007a55; font-weight: 600 }} td.near {{ color: #8a6100 }} td.not {{ color: #b3261e; font-weight: 600 }}
td.met, td.near, td.not {{ white-space: nowrap }}
tr:hover td {{ background: #f4f8fb }}
details {{ margin: .6rem 0 }}
summary {{ cursor: pointer; color: #0060a0 }}
figure {{ margin: 1.2rem 0 }}
img {{ max-width: 100%; height: auto; border: 1px solid #e4e4e4 }}
figcaption, .source {{ color: #666; font-size: .95rem }}
.notes {{ background: #f7f7f3; border-left: 4px solid #e69f00; padding: .4rem 1rem .4rem 2rem; margin: 1rem 0 }}
@media (max-width: 44rem) {{ td, th {{ padding: .2rem .35rem }} .count {{ display: none }}
  td.name {{ white-space: normal }} }}
@media print {{ details {{ display: none }} figure, tr {{ break-inside: avoid }} }}
</style></head><body>
<h1>The documents' experiments, computed again</h1>
<p>Every number was computed by <code>mbsim experiment all</code> (mbsim_ros {version}). A <em>printed</em> value
stands in the document; beside it is how far ours is off: <b>✓ met</b> where ours rounds to it or is within 5 %,
<b>≈ near</b> within a factor of two, <b>✗ not met</b> farther away. Many printed values are rounded, read from a curve
or given as an order of magnitude, and an error that is smaller than a printed one is not met, either. Times of
computing stand beside those of the document's machine, without a mark. Where a document is wrong or silent, the notes
of its experiment say what was done instead, and why a printed result is not met.</p>
<table><tr><th>experiment</th><th>what</th><th class="number count">printed values</th><th>✓ ≈ ✗</th><th
class="number count">figures</th></tr>
{contents}</table>
{sections}
</body></html>
"""


def write_report(folder: Path, names: Sequence[str]) -> Path:
    """Write DIR/index.html from the JSON files and figures in a folder; returns its path."""
    found = {name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in names}
    figures = {name: _figures(folder, name, names) for name in names}
    contents = "".join(_content_row(name, found[name], len(figures[name])) for name in names)
    sections, document = [], ""
    for name in names:
        if name.partition("-")[0] != document:
            document = name.partition("-")[0]
            sections.append(f"<h2>{html.escape(DOCUMENTS.get(document, document))}</h2>")
        sections.append(_section(name, found[name], figures[name]))
    page = folder / "index.html"
    content = _PAGE.format(contents=contents, sections="\n".join(sections), version=mbsim_ros.__version__)
    page.write_text(content, encoding="utf-8")
    return page


def _figures(folder: Path, name: str, names: Sequence[str]) -> list[Path]:
    """Figures of an experiment, without those of another whose name goes on from this one."""
    others = tuple(f"{other}-" for other in names if other.startswith(f"{name}-"))
    return [file for file in sorted(folder.glob(f"{name}-*.png")) if not (others and file.name.startswith(others))]


def _content_row(name: str, found: dict[str, Any], figures: int) -> str:
    return (
        f'<tr><td class="name"><a href="#{name}">{name}</a></td><td>{html.escape(find(name).title)}</td>'
        f'<td class="number count">{len(found["printed"])}</td><td>{_tally(found)}</td>'
        f'<td class="number count">{figures}</td></tr>\n'
    )


def _tally(found: dict[str, Any]) -> str:
    """How many printed values are met, near and not met."""
    verdicts = [verdict(found["metrics"][key], value) for key, value in found["printed"].items() if not is_time(key)]
    return " ".join(f"{verdicts.count(each)} {MARKS[each]}" for each in VERDICTS if each in verdicts)


def _section(name: str, found: dict[str, Any], figures: Sequence[Path]) -> str:
    metrics, printed = found["metrics"], found["printed"]
    compared = {key: value for key, value in metrics.items() if key in printed}
    others = {key: value for key, value in metrics.items() if key not in printed}
    parts = [
        f'<section id="{name}"><h3>{html.escape(find(name).title)}</h3>',
        f'<p class="source">{html.escape(found["source"])}. <code>mbsim experiment {name}</code>, '
        f'<a href="{name}.json">{name}.json</a></p>',
        _compared_table(compared, printed, found.get("printed_at", {})) if compared else "",
        _folded("Errata and notes", f'<ul class="notes">{_items(found["notes"])}</ul>', True) if found["notes"] else "",
        *(_figure(name, file, found.get("captions", {})) for file in figures),
        _folded(f"Other values ({len(others)})", _table(others), not compared) if others else "",
        _folded("Parameters", _table(found["parameters"])) if found["parameters"] else "",
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _compared_table(compared: dict[str, object], printed: dict[str, object], places: dict[str, str]) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(key)}</td>{_cell(value, digits_beside(printed[key]))}"
        f"{_cell(printed[key], MOST_DIGITS)}"
        f'<td class="number off">{html.escape(deviation(value, printed[key]))}</td>{_mark(key, value, printed[key])}'
        f'<td class="off">{html.escape(places.get(key, ""))}</td></tr>\n'
        for key, value in compared.items()
    )
    heads = "".join(f'<th class="number">{words}</th>' for words in ("computed", "printed", "off by"))
    return f"<table><tr><th></th>{heads}<th></th><th>printed in</th></tr>\n{rows}</table>"


def _mark(key: str, computed: object, printed: object) -> str:
    found = "" if is_time(key) else verdict(computed, printed)
    return f'<td class="{found.partition(" ")[0]}">{MARKS[found]} {found}</td>' if found else "<td></td>"


def _table(values: dict[str, object]) -> str:
    return f"<table>{''.join(f'<tr><td>{html.escape(str(k))}</td>{_cell(v)}</tr>' for k, v in values.items())}</table>"


def _folded(title: str, content: str, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{html.escape(title)}</summary>{content}</details>"


def _items(notes: Sequence[str]) -> str:
    return "".join(f"<li>{html.escape(note)}</li>" for note in notes)


def _figure(name: str, file: Path, captions: dict[str, str]) -> str:
    end = file.stem.removeprefix(name + "-")
    caption = html.escape(captions.get(end) or end.replace("-", " "))
    return (
        f'<figure><a href="{file.name}"><img src="{file.name}" alt="{caption}" loading="lazy"></a>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _cell(value: object, digits: int = DIGITS) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    kind = ' class="number"' if is_number else ""
    return f"<td{kind}>{html.escape(text(value, FEW, digits))}</td>"
