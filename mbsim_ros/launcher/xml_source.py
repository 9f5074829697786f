# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A launch file as elements that know their line and refuse what is not understood."""

from __future__ import annotations

from pathlib import Path

from lxml import etree

from mbsim_ros.launcher.errors import LaunchError
from mbsim_ros.xml_lines import first_line

MAX_BYTES = 4 * 2**20  # a launch file is written by hand; more is a mistake, not a launch file


class Element:
    """One XML element of a launch file, with its file and line for messages."""

    def __init__(self, node: etree._Element, file: Path, text: list[str]):
        self._node = node
        self._text = text
        self.file = file
        self.line = first_line(text, str(node.tag), node.sourceline or 0)

    @property
    def tag(self) -> str:
        """Name of the element."""
        return str(self._node.tag)

    @property
    def children(self) -> list[Element]:
        """Child elements in document order, comments left out."""
        return [Element(child, self.file, self._text) for child in self._node.iterchildren(tag=etree.Element)]

    @property
    def attribute_names(self) -> list[str]:
        """Names of the attributes given."""
        return [str(name) for name in self._node.attrib]

    def attribute(self, name: str) -> str | None:
        """The raw text of an attribute, or None where it is not given."""
        return self._node.get(name)

    def required(self, name: str) -> str:
        """The raw text of an attribute that must be given."""
        value = self._node.get(name)
        if value is None:
            raise self.error(f"<{self.tag}> needs the attribute '{name}'")
        return value

    def error(self, message: str) -> LaunchError:
        """Make the error that points at this element."""
        return LaunchError(message, self.file, self.line)


def read_launch_file(path: Path) -> Element:
    """Read an XML launch file; the root must be ``<launch>``."""
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise LaunchError("is a folder, not a launch file", path)
        if size > MAX_BYTES:
            raise LaunchError(f"has {size} bytes; a launch file has at most {MAX_BYTES}", path)
        data = path.read_bytes()
    except OSError as error:
        raise LaunchError(f"cannot be read: {error.strerror}", path) from None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise LaunchError(f"is not XML: {error.msg}", path, error.lineno) from None
    doctype = root.getroottree().docinfo.doctype
    if doctype:
        raise LaunchError("a launch file has no DOCTYPE; remove it", path, 1)
    element = Element(root, path, data.decode(errors="replace").split("\n"))
    if element.tag != "launch":
        raise element.error(f"the root of a launch file is <launch>, not <{element.tag}>")
    return element
