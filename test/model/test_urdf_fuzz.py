# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Whatever happens to a URDF text, the reader answers with a robot or with a UrdfError."""

import re
import warnings
from pathlib import Path

from hypothesis import example, given, settings, strategies as st

from mbsim_ros.model.description import RobotDescription
from mbsim_ros.model.problems import UrdfError
from mbsim_ros.model.urdf.parser import parse_urdf

TEXT = (Path(__file__).parent / "good" / "leg.urdf").read_text()
ODD = ["", " ", "0", "-1", "nan", "inf", "1e999", "1,0", "0 0", "0 0 0 0", "base", "knee", "revolute", "planar",
       "spherical", "package://", "..", "&amp;", "&x;", "<", "\x00", "\ud800", "é", "9" * 500, "${a}"]  # fmt: skip
ATTRIBUTE = re.compile(r'\s[\w:]+="[^"]*"')
ELEMENT = re.compile(r"<\w+[^<>]*/>")
LINE = re.compile(r".*\n")


@st.composite
def mutated(draw):
    """The text after a few changes to attributes, elements, lines or characters."""
    text = TEXT
    for _ in range(draw(st.integers(1, 5))):
        pattern = draw(st.sampled_from([ATTRIBUTE, ELEMENT, LINE]))
        places = list(pattern.finditer(text))
        change = draw(st.sampled_from(["drop", "double", "alter", "move", "truncate", "insert"]))
        if change == "truncate":
            text = text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text
        elif change == "insert" or not places:
            position = draw(st.integers(0, len(text)))
            text = text[:position] + draw(st.sampled_from(ODD)) + text[position:]
        else:
            place = draw(st.sampled_from(places))
            found, rest = place.group(), text[: place.start()] + text[place.end() :]
            if change == "double":
                text = text[: place.end()] + found + text[place.end() :]
            elif change == "move":
                position = draw(st.integers(0, len(rest)))
                text = rest[:position] + found + rest[position:]
            elif change == "alter":
                other = re.sub(r'"[^"]*"', lambda _: f'"{draw(st.sampled_from(ODD))}"', found)
                text = text[: place.start()] + other + text[place.end() :]
            else:
                text = rest
    return text


def _robot_or_error(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            robot = parse_urdf(source)
        except UrdfError as error:
            assert error.problems
            return
    assert isinstance(robot, RobotDescription)
    assert robot.root in robot.links
    assert sum(len(robot.children_of(link)) for link in robot.links) == len(robot.links) - 1


@settings(max_examples=400, deadline=None)
@given(text=mutated())
def test_only_urdf_errors_escape_from_mutated_text(text):
    # A text that lost its first '<' is a path; a path that happens to be "." is a folder.
    _robot_or_error(text)


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=300))
@example(b"")
@example(b"\xff\xfe")
@example(b"\xef\xbb\xbf")
def test_only_urdf_errors_escape_from_bytes(data):
    _robot_or_error(data)
    _robot_or_error(b'<robot name="r">' + data)
