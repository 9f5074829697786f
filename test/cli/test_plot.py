# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""`mbsim plot`: what is drawn, and that nothing overlaps or is cut off."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

sys.path.append(str(Path(__file__).parents[1] / "bags"))

from hand_made_run import HOPPER, begin, wavy

from mbsim_ros.bags.history import Contacts, read_history
from mbsim_ros.cli.main import main
from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.plotting.panels import Line, split
from mbsim_ros.plotting.png import covering, thinned
from mbsim_ros.plotting.result_panels import result_panels
from mbsim_ros.plotting.run_panels import NothingToPlot, footfalls, run_panels

STANDS = "contact: {max_penetration: 0.001}\ninitial_states: {home: {base: {xyz: [0, 0, 0.2]}}}\n"


@pytest.fixture
def bag(tmp_path):
    run = begin(tmp_path / "bag", HOPPER, STANDS)
    run.run(150, wavy)
    run.reset()
    run.run(20, wavy)
    run.writer.close()
    return tmp_path / "bag"


def test_a_recording_as_png_and_page(bag, tmp_path, capsys):
    assert main(["plot", str(bag), "--out", str(tmp_path / "run.png")]) == 0
    assert "Joint angles, Joint torques, Footfalls, Energy stored, Energy since the reset" in capsys.readouterr().out
    picture = imread(tmp_path / "run.png")
    assert picture.shape[1] > 1000
    edge = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    assert (edge[:, :3] == 1.0).all(), "something is cut off at the edge"
    assert main(["plot", str(bag), "--what", "footfalls", "--out", str(tmp_path / "run.html")]) == 0
    page = (tmp_path / "run.html").read_text()
    panels = json.loads(re.search(r"const PANELS = (.*);\n", page)[1])
    assert [panel["title"] for panel in panels] == ["Footfalls"]
    assert panels[0]["rows"] == ["body"]
    assert "http" not in page.replace("http-equiv", "")  # it needs nothing from elsewhere


def test_lines_stop_at_a_reset(bag):
    history = read_history(bag)
    (angles,) = run_panels(history, ["angles"])
    line = angles.lines[0]
    assert np.isnan(line.y).sum() == 1
    np.testing.assert_array_equal(line.y[~np.isnan(line.y)], history.position[:, 0])


def test_footfalls_begin_and_end_with_contact():
    seconds = 0.1 * np.arange(8)
    none, slides, sticks = ContactMode.NO_CONTACT, ContactMode.SLIDING, ContactMode.STICKING
    left = [none, none, slides, sticks, sticks, none, none, sticks]
    right = [sticks] * 8
    modes = np.column_stack([left, [none] * 8, right])
    places = np.zeros((8, 3, 3))
    panel = footfalls(seconds, Contacts(("a", "b", "c"), ("left", "left", "right"), modes, places, places))
    assert panel.rows == ("left", "right")
    found = {(bar.row, bar.kind, round(bar.start, 9), round(bar.end, 9)) for bar in panel.bars}
    assert found == {
        ("left", "slides", 0.2, 0.3), ("left", "sticks", 0.3, 0.5), ("left", "sticks", 0.7, 0.7),
        ("right", "sticks", 0.0, 0.7),
    }  # fmt: skip


def test_the_ledger_that_is_drawn_adds_up(bag):
    panels = {panel.title: panel for panel in run_panels(read_history(bag), ["ledger"])}
    stored = sum(line.y for line in panels["Energy stored"].lines)
    moved = {line.name: line.y for line in panels["Energy since the reset"].lines}
    works = sum(values for name, values in moved.items() if name.startswith("work"))
    losses = sum(values for name, values in moved.items() if name.startswith("lost"))
    rest = stored - stored[0] - works + losses
    np.testing.assert_allclose(rest[:151], moved["left over (discretisation)"][:151], atol=1e-9)


def test_results_of_experiments(tmp_path):
    content = {
        "experiment": "e", "source": "s", "parameters": {"steps of it [s]": [1.0, 2.0, 4.0]},
        "metrics": {"error [m]": [0.1, "inf", 0.3], "drift [J]": [1, 2, 3], "one": 4.0, "words": ["a", "b", "c"]},
        "printed": {"drift [J]": [1, 2, 2]}, "notes": [],
    }  # fmt: skip
    (tmp_path / "e.json").write_text(json.dumps(content))
    panels = {panel.y: panel for panel in result_panels(tmp_path / "e.json")}
    assert set(panels) == {"[m]", "[J]"}
    assert panels["[m]"].x == "steps of it [s]"
    assert panels["[m]"].lines[0].x.tolist() == [1, 2, 4]
    assert np.isnan(panels["[m]"].lines[0].y[1])
    assert [line.name for line in panels["[J]"].lines] == ["drift", "drift, printed"]
    assert main(["plot", str(tmp_path / "e.json"), "--out", str(tmp_path / "e.png")]) == 0
    (tmp_path / "f.json").write_text('{"metrics": {"one": 1}}')
    with pytest.raises(NothingToPlot, match="there are: one"):
        result_panels(tmp_path / "f.json")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "there is no bag"), (["nowhere.json"], "not the result of an experiment"),
        (["BAG", "--joints", "knee"], "no joint named knee; there are: tail"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_said(bag, tmp_path, capsys, arguments, said):
    given = [str(bag) if word == "BAG" else word for word in arguments]
    assert main(["plot", *given, "--out", str(tmp_path / "x.png")]) == 2
    assert said in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["plot", *given, "--out", "x.jpeg"])


def test_many_lines_are_split_evenly():
    lines = [Line(str(k), np.zeros(2), np.zeros(2)) for k in range(17)]
    panels = split(lines, "Angles", "t", "y")
    assert [len(panel.lines) for panel in panels] == [6, 5, 6]
    assert [line.name for panel in panels for line in panel.lines] == [str(k) for k in range(17)]
    assert split([], "Angles", "t", "y") == []


def test_peaks_survive_thinning():
    x = np.arange(100_000.0)
    y = np.sin(x / 5000)
    y[77_777], y[40_000] = 9.0, np.nan
    thin_x, thin_y = thinned(x, y, 1000)
    assert len(thin_x) < 1500
    assert thin_x[np.nanargmax(thin_y)] == 77_777
    assert 40_000 in thin_x[np.isnan(thin_y)]


def test_lines_that_lie_on_each_other_are_told_apart():
    x = np.linspace(0.0, 1.0, 50)
    first, gap = np.sin(5 * x), np.where(x > 0.5, np.nan, np.sin(5 * x))
    lines = [Line("a", x, first), Line("b", x, first + 0.01), Line("c", x, first + 0.5), Line("d", x, gap)]
    assert covering(lines) == [False, True, False, True]
    assert covering([Line("nothing", x, np.full(50, np.nan))]) == [False]
