# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Figures of a run that was recorded in Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mbsim_ros.bags.recording.history import history_of
from mbsim_ros.plotting.page import write_page
from mbsim_ros.plotting.png import draw_figure, write_png
from mbsim_ros.plotting.run_panels import WHAT, run_panels
from mbsim_ros.sim.recording.recorder import Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 4000  # rows: more do not fit into the pixels


def plot_recording(
    recording: Recording, path: str | os.PathLike | None, what: tuple[str, ...], joints: tuple[str, ...]
) -> Figure | None:
    """See `Recording.plot`."""
    unknown = [name for name in what if name not in WHAT]
    if unknown:
        raise ValueError(f"what: expected any of {', '.join(WHAT)}, got {unknown[0]!r}")
    file = None if path is None else Path(path)
    if file is not None and file.suffix not in (".png", ".html"):
        raise ValueError(f"path: expected a file that ends with .png or .html, got '{file}'")
    history = history_of(recording, MOST)
    panels, title = run_panels(history, what or WHAT, joints), history.model.name
    if file is None:
        return draw_figure(panels, title)
    if file.suffix == ".html":
        write_page(file, panels, title, history.notes)
    else:
        write_png(file, panels, title)
    return None
