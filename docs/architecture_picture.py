# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The layers of the package, and the picture of them: `python3 docs/architecture_picture.py` draws it anew.

test/test_layers.py holds every import against this table, test/test_documentation.py the picture.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from textwrap import wrap

# From the top down, folders and single modules of mbsim_ros with what they do. A layer imports itself and what is below
# it; layers that share a level do not know each other.
LEVELS: tuple[dict[str, str], ...] = (
    {"nodes": "ROS 2 nodes, thin adapters: parameters, messages, services. Only here is rclpy imported"},
    {"cli": "the verbs of mbsim"},
    {"viewer": "the web view", "plotting": "figures of recordings and results",
     "fuzz": "hostile input to everything that reads"},
    {"bench": "speed, beside peers", "bags": "writes, reads and replays recordings",
     "experiments": "the documents' tables and figures", "learning": "environments of Gymnasium"},
    {"ensemble": "Ensemble: many simulations at once on all cores"},
    {"sim": "Simulation: state, integrator, contact, coupling, ledger, snapshots",
     "lagrangian": "integrators from a Lagrangian and constraints"},
    {"control": "controllers as plain classes: update(t, state) → command",
     "launcher": "reads launch files, runs their nodes", "integrators": "one step: variational schemes and baselines"},
    {"collision": "convex shapes that touch each other: distance, points, who is near"},
    {"contact": "points, modes, laws, ground", "coupling": "motors, clutches, brakes: v = D u",
     "elastic": "springs across joints"},
    {"dynamics": "free functions on (model, q, v): kinematics, inverse and forward dynamics, mass matrix, energy"},
    {"model": "the immutable Model from URDF, xacro and sidecar, or built in Python"},
    {"lie": "SO(3), SE(3), quaternions: exp, log, Cayley map and their derivatives",
     "linalg": "sparse matrices of tiles, eliminated without allocation"},
    {"jit": "compiles kernels", "records": "many systems for one kernel",
     "native_call": "kernels that call kernels by address",
     "xml_lines": "lines of XML elements, for error messages"},
    {"compile_notice": "says how many kernels are compiled and how long it takes"},
    {"kernel_cache": "keeps compiled kernels, by a hash of all that they import and are given",
     "status": "what a process is doing, told to its launch", "executables": "which module a node's name runs",
     "moved": "old names of modules"},
)  # fmt: skip
LAYERS = [tuple(level) for level in LEVELS]

PICTURE = Path(__file__).resolve().parent / "pictures" / "architecture.svg"
WIDTH, LEFT, RIGHT, GAP = 880, 74, 12, 8
LINE, BEFORE, AFTER = 17, 25, 10  # of text in a box, its first line and what is below its last
CHARACTER = 7.0  # width of one at 13 pixels, on the average
COLOURS = ("#f6d9b8", "#dbe7f5", "#dbe7f5", "#dbe7f5", "#cfe8d5", "#cfe8d5", "#cfe8d5", "#cfe8d5", "#ece3f3", "#ece3f3",
           "#ece3f3", "#ece3f3", "#e9e9e9", "#e9e9e9", "#e9e9e9")  # fmt: skip


def drawing() -> str:
    """The picture as SVG text: a row of boxes for each level."""
    parts: list[str] = []
    y = 12
    for number, (level, colour) in enumerate(zip(LEVELS, COLOURS, strict=True)):
        width = (WIDTH - LEFT - RIGHT - GAP * (len(level) - 1)) / len(level)
        texts = {name: _lines(name, says, width) for name, says in level.items()}
        height = BEFORE + LINE * (max(map(len, texts.values())) - 1) + AFTER
        for k, (name, lines) in enumerate(texts.items()):
            parts += _box(LEFT + k * (width + GAP), y, width, height, colour, name, lines)
        y += height + GAP
        if number == 0:
            parts.append(f'<line x1="{LEFT}" y1="{y + 4}" x2="{WIDTH - RIGHT}" y2="{y + 4}" class="border"/>')
            parts.append(f'<text x="{WIDTH - RIGHT}" y="{y + 20}" class="note" text-anchor="end">below: no ROS</text>')
            y += 28
    bottom, middle = y - GAP, 12 + (y - GAP - 12) / 2
    parts.append(f'<path d="M 44 14 V {bottom - 8} m -7 -9 l 7 9 l 7 -9" class="arrow"/>')
    parts.append(f'<text transform="translate(30 {middle:g}) rotate(-90)" class="note" text-anchor="middle">'
                 "imports point downward</text>")  # fmt: skip
    style = (
        "text{font:13px sans-serif;fill:#222}.name{font-weight:bold;font-family:monospace}.note{fill:#555}"
        ".border{stroke:#999;stroke-dasharray:5 4}.arrow{stroke:#555;stroke-width:2;fill:none}"
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 4}" width="{WIDTH}" height="{y + 4}">',
        f"<style>{style}</style>", '<rect width="100%" height="100%" fill="#fff"/>',
    )  # fmt: skip
    return "\n".join((*head, *parts, "</svg>", ""))


def _lines(name: str, says: str, width: float) -> list[str]:
    """What stands in a box, beside the name as far as there is room, and below it."""
    room = int((width - 24) / CHARACTER)
    first = " " * (len(name) + 4)
    return wrap(says, room, initial_indent=first, subsequent_indent="")


def _box(x: float, y: float, width: float, height: float, colour: str, name: str, lines: list[str]) -> list[str]:
    found = [f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="{colour}"/>']
    found.append(f'<text x="{x + 12:g}" y="{y + 22:g}" class="name">{escape(name)}</text>')
    for k, line in enumerate(lines):
        at = x + 12 + (8.2 * len(name) + 12 if k == 0 else 0)
        found.append(f'<text x="{at:g}" y="{y + 22 + LINE * k:g}">{escape(line.strip(), quote=False)}</text>')
    return found


if __name__ == "__main__":
    PICTURE.write_text(drawing())
