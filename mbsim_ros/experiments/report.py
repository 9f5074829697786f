"""The report: one page with every experiment, printed values beside ours, figures and notes."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mbsim_ros.experiments.experiment import find

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>mbsim_ros: the documents' experiments</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222 }}
table {{ border-collapse: collapse; margin: 1rem 0 }}
td, th {{ padding: .25rem .8rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top }}
td.number {{ text-align: right; font-variant-numeric: tabular-nums }}
img {{ max-width: 100%; height: auto; margin: .5rem 0 }}
section {{ border-top: 2px solid #0072b2; margin-top: 3rem }}
.source {{ color: #666 }}
</style></head><body>
<h1>The documents' experiments, computed again</h1>
<p>Every number was computed by <code>mbsim experiment all</code>. A printed value is one that stands in the document;
where a document is wrong or silent, a note says so.</p>
<ul>{contents}</ul>
{sections}
</body></html>
"""


def write_report(folder: Path, names: Sequence[str]) -> Path:
    """Write DIR/index.html from the JSON files and figures in a folder; returns its path."""
    contents = "".join(f'<li><a href="#{name}">{name}</a>: {html.escape(find(name).title)}</li>' for name in names)
    sections = "\n".join(_section(folder, name) for name in names)
    page = folder / "index.html"
    page.write_text(_PAGE.format(contents=contents, sections=sections), encoding="utf-8")
    return page


def _section(folder: Path, name: str) -> str:
    found = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    rows = "".join(
        f"<tr><td>{html.escape(key)}</td>{_cell(value)}{_cell(found['printed'].get(key, ''))}</tr>"
        for key, value in found["metrics"].items()
    )
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in found["notes"])
    figures = "".join(
        f'<img src="{file.name}" alt="{html.escape(file.stem.removeprefix(name + "-").replace("-", " "))}">'
        for file in sorted(folder.glob(f"{name}-*.png"))
    )
    return (
        f'<section id="{name}"><h2>{html.escape(find(name).title)}</h2>'
        f'<p class="source">{html.escape(found["source"])}, <code>mbsim experiment {name}</code></p>'
        f"<table><tr><th></th><th>computed</th><th>printed</th></tr>{rows}</table>"
        f"{'<ul>' + notes + '</ul>' if notes else ''}{figures}</section>"
    )


def _cell(value: Any) -> str:
    kind = ' class="number"' if isinstance(value, int | float) and not isinstance(value, bool) else ""
    return f"<td{kind}>{html.escape(_text(value))}</td>"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(each)}" for key, each in value.items())
    if isinstance(value, list):
        shown = ", ".join(_text(each) for each in value[:12])
        return f"{shown} … ({len(value)} values)" if len(value) > 12 else shown
    return str(value)
