# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The ground of the physics node, from a word, from a file, and from the text that a recording keeps of the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mbsim_ros.bags.setup import SimulationSetup
from mbsim_ros.contact.terrain import ground_of
from mbsim_ros.sim.surroundings.terrain_parameter import chosen_terrain, terrain_files, terrain_text

CONFIG = Path(__file__).parent.parent.parent / "config"


def test_words():
    assert [chosen_terrain(word) for word in ("auto", "flat", "none")] == [None, "flat", False]
    assert terrain_text("flat") == "flat"


@pytest.mark.parametrize("name", ["flat", "plate", "rubble", "slope", "hills"])
def test_files_and_what_a_recording_keeps_of_them(name):
    file = str(CONFIG / f"terrain_{name}.yaml")
    kept = chosen_terrain(terrain_text(file), terrain_files(file))
    assert replace(kept, file=None) == replace(chosen_terrain(file), file=None)


def test_heights_of_the_grounds_for_the_walker():
    plate, rubble, slope = (
        ground_of(chosen_terrain(str(CONFIG / f"terrain_{name}.yaml"))) for name in ("plate", "rubble", "slope")
    )
    assert [-plate.gap((x, y, 0.0)) for x, y in ((0.5, 0.2), (2.0, -0.2), (2.0, 0.2))] == pytest.approx([0, 0, 0.03])
    heights = [-rubble.gap((x, 0.12 * k, 0.0)) for x in (1.07, 2.03, 3.95, 5.03) for k in range(-4, 5)]
    assert max(heights) > 0.035
    assert min(heights) > -0.005
    rise = slope.gap((2.0, 0.0, 0.0)) - slope.gap((3.0, 0.0, 0.0))
    assert slope.normal((2.5, 0.0, 0.0))[2] == pytest.approx(0.98481, abs=1e-4)  # cos 10°
    assert rise > 0.17


def test_what_is_no_terrain(tmp_path):
    with pytest.raises(ValueError, match="expected auto, flat, none"):
        chosen_terrain("moon")
    (tmp_path / "empty.yaml").write_text("gains: {}")
    with pytest.raises(ValueError, match="section `terrain`"):
        chosen_terrain(str(tmp_path / "empty.yaml"))


def test_a_recording_names_no_file():
    setup = SimulationSetup("", "", {"terrain": str(CONFIG / "terrain_plate.yaml")}, "", {})
    with pytest.raises(ValueError, match="got the name of a file"):
        setup.simulation()
