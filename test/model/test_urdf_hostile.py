# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Files made to hurt the reader: each is refused, with a sentence, at once."""

import os
import pickle
import random
import time

import pytest

from mbsim_ros.model.problems import UrdfError
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.model.urdf.xml_source import MAX_TAGS

ROBOT = '<robot name="r"><link name="a"/></robot>'


def _refused(source, words, seconds=1.0):
    start = time.process_time()
    with pytest.raises(UrdfError, match=words) as caught:
        parse_urdf(source)
    assert time.process_time() - start < seconds
    assert len(caught.value.problems) >= 1
    return caught.value


def _billion_laughs():
    entities = ['<!ENTITY l0 "ha">'] + [f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12)]
    return f'<?xml version="1.0"?>\n<!DOCTYPE robot [{"".join(entities)}]>\n<robot name="&l11;">&l11;</robot>'


@pytest.mark.parametrize(
    "text",
    [
        _billion_laughs(),
        '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
        '<!DOCTYPE robot [<!ENTITY % x SYSTEM "http://127.0.0.1:1/x.dtd"> %x;]><robot name="r"/>',
        f'<!DOCTYPE robot SYSTEM "http://127.0.0.1:1/x.dtd">{ROBOT}',
        f"<!-- first --><?some thing?>\n <!-- <robot/> -->\n<!doctype robot>{ROBOT}",
        f"\ufeff \n<!DOCTYPE robot>{ROBOT}",
    ],
)
def test_document_types_and_entities_are_refused(text, tmp_path):
    _refused(text, "DOCTYPE and entities are refused")
    for encoding in ("utf-8", "utf-16"):
        path = tmp_path / f"{encoding}.urdf"
        path.write_bytes(text.lstrip("\ufeff").encode(encoding))
        _refused(path, "DOCTYPE and entities are refused")


def test_a_doctype_in_a_comment_is_only_a_comment():
    with pytest.warns(UserWarning):
        parse_urdf(f"<!-- <!DOCTYPE robot> -->{ROBOT}")


def test_a_file_of_100_megabytes_is_refused(tmp_path):
    path = tmp_path / "huge.urdf"
    with open(path, "wb") as stream:
        stream.write(b'<robot name="r">')
        stream.truncate(100_000_000)
    _refused(path, "too large for a URDF file, 95.4 MiB, the limit is 16 MiB")


def test_text_of_100_megabytes_is_refused():
    _refused("<robot>" + " " * 100_000_000, "too large for a URDF file")
    _refused("<a/>" * (MAX_TAGS + 1), "too many tags")


def test_a_tag_with_countless_attributes_is_refused():
    attributes = " ".join(f'a{i}="1"' for i in range(100_000))
    _refused(f'<robot name="r"><link name="a" {attributes}/></robot>', "too many attributes, 100001 on <link>", 5)


def test_deep_nesting_is_refused():
    _refused("<robot>" * 100_000, "not well-formed XML, Excessive depth")
    _refused('<robot name="r">' + "<link>" * 1000 + "</link>" * 1000 + "</robot>", "Excessive depth")


def test_binary_junk_is_refused(tmp_path):
    generator = random.Random(1)
    for size in (1, 10, 1000, 100_000):
        path = tmp_path / f"{size}.urdf"
        path.write_bytes(bytes([0xFF]) + generator.randbytes(size))
        _refused(path, "not utf-8 text|unknown|not XML|not utf-16 text")
    _refused(b"\x7fELF\x02\x01\x01\x00", "not XML")
    _refused(b'<robot name="r\x00"/>', "not well-formed XML")
    _refused(b"\xff\xfe<\x00r\x00\xd8", "not utf-16 text")
    _refused('<robot name="\ud800"/>', "not text")


@pytest.mark.parametrize("encoding", ["punycode", "rot13", "utf-7", "idna", "zlib"])
def test_unusual_encodings_are_refused(encoding):
    _refused(f'<?xml version="1.0" encoding="{encoding}"?>{ROBOT}'.encode(), "unknown text encoding")


def test_paths_that_are_no_files(tmp_path):
    _refused(tmp_path, "is a folder")
    _refused(tmp_path / "missing.urdf", "missing.urdf: file: cannot be read, No such file")
    _refused(str(tmp_path / ("x" * 300 + ".urdf")), "cannot be read")
    _refused("", "neither a path nor URDF text")
    _refused("some text\nover two lines", "neither a path nor URDF text")
    _refused("nul\0character.urdf", "neither a path nor URDF text")
    _refused("/dev/zero", "is not an ordinary file")
    os.mkfifo(tmp_path / "pipe.urdf")
    _refused(tmp_path / "pipe.urdf", "is not an ordinary file")
    os.symlink(tmp_path / "loop", tmp_path / "loop")
    _refused(tmp_path / "loop", "cannot be read")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file(tmp_path):
    path = tmp_path / "secret.urdf"
    path.write_text(ROBOT)
    path.chmod(0)
    _refused(path, "cannot be read, Permission denied")


@pytest.mark.parametrize("wrong", [None, 5, ["robot.urdf"]])
def test_arguments_of_the_wrong_type(wrong):
    with pytest.raises(TypeError, match="takes a path or XML text"):
        parse_urdf(wrong)


def test_a_hundred_thousand_problems_stay_readable():
    text = '<robot name="r">' + '<joint name="j" type="x"/>' * 30_000 + "</robot>"
    error = _refused(text, "and .* more problems", 15)
    assert len(error.problems) > 90_000
    assert len(str(error).splitlines()) < 300


def test_many_unknown_names_take_linear_time():
    links = "".join(f'<link name="link_{i}"/>' for i in range(5000))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="lnk_{i}"/><child link="link_{i}"/></joint>' for i in range(5000)
    )
    _refused(f'<robot name="r">{links}{joints}</robot>', "unknown parent link, 'lnk_0'", 5)


def test_a_chain_of_ten_thousand_links_and_a_loop_of_them():
    links = "".join(f'<link name="l{i}"/>' for i in range(10_000))
    joint = '<joint name="j{0}" type="fixed"><parent link="l{1}"/><child link="l{0}"/></joint>'
    chain = "".join(joint.format(i, i - 1) for i in range(1, 10_000))
    with pytest.warns(UserWarning):
        assert len(parse_urdf(f'<robot name="r">{links}{chain}</robot>').joints) == 9999
    _refused(f'<robot name="r">{links}{chain}{joint.format(0, 9999)}</robot>', "closes a loop, .* > … > ", 5)


def test_errors_survive_pickling():
    error = _refused("<robot/>", "missing robot name")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and copy.problems == error.problems
