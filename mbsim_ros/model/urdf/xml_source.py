# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Reading XML that nobody vouches for: bounded, without entities, with the line of every element."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lxml import etree

from mbsim_ros.model.file_reading import checked_path, read_bytes, too_large
from mbsim_ros.model.problems import Problem, UrdfError, shortened
from mbsim_ros.xml_lines import first_line

# The largest robot in common collections has 0.2 MB and 10,000 tags.
MAX_BYTES = 16 * 1024 * 1024
MAX_TAGS = 200_000

# Encodings that are seen in XML and decode in linear time; others are refused.
_ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "ascii", "cp1250", "cp1251", "cp1252", "iso8859-1", "iso8859-15")
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SPACE = re.compile(r"\s*")
_DECLARED_ENCODING = re.compile(r"""^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")

# Not well-formed by the letter, but unambiguous, and tinyxml (so every urdfdom user) reads it.
_TOLERATED = ("NS_ERR_UNDEFINED_NAMESPACE", "WAR_NS_URI", "ERR_HYPHEN_IN_COMMENT")
_XML_HINTS = {
    "ERR_NAME_REQUIRED": "write & as &amp;",
    "ERR_UNDECLARED_ENTITY": "only &amp; &lt; &gt; &quot; &apos; exist in a URDF",
    "ERR_RESOURCE_LIMIT": "no robot needs this",
    "ERR_ATTRIBUTE_REDEFINED": "give the attribute once",
    "ERR_DOCUMENT_END": "one <robot> element and nothing after it",
    "ERR_TAG_NAME_MISMATCH": "close every tag you open",
    "ERR_TAG_NOT_FINISHED": "the file ends too early",
}


@dataclass(frozen=True)
class XmlSource:
    """A parsed document: `file` is its name in messages, `folder` where its relative paths start."""

    file: str
    folder: Path | None
    text: str
    root: etree._Element
    first_line: int = 1
    warnings: tuple[Problem, ...] = ()

    def line(self, element: etree._Element) -> int:
        """Line in the file on which an element begins."""
        last = (element.sourceline or 1) + self.first_line - 1
        tag = str(element.tag).rpartition("}")[2]
        return first_line(self._lines, f"{element.prefix}:{tag}" if element.prefix else tag, last)

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    def tag(self, element: etree._Element) -> str:
        """Tag without the document's own namespace; a foreign one stays as its prefix."""
        tag = str(element.tag)
        if not tag.startswith("{"):
            return tag
        namespace, local = tag[1:].split("}", 1)
        if namespace == etree.QName(self.root).namespace:
            return local
        return f"{element.prefix or namespace}:{local}"


def read_xml(path_or_xml: str | bytes | os.PathLike, name: str = "") -> XmlSource:
    """Read a path or XML text; `name` stands for the file in messages if the text has none. Raises UrdfError."""
    if isinstance(path_or_xml, bytes) or (isinstance(path_or_xml, str) and looks_like_xml(path_or_xml)):
        file, folder, data = name or "<xml text>", None, path_or_xml
    else:
        path = urdf_path(path_or_xml)
        file, folder, data = str(path), path.absolute().parent, read_bytes(path, MAX_BYTES, UrdfError, "URDF")
    return parse_xml(data, file, folder)


def looks_like_xml(path_or_xml: str | bytes | os.PathLike) -> bool:
    """XML text starts with '<' after white space and a byte order mark; bytes are always XML, never a path."""
    if isinstance(path_or_xml, bytes):
        return True
    return isinstance(path_or_xml, str) and path_or_xml[:10_000].lstrip("\ufeff \t\r\n")[:1] == "<"


def urdf_path(path: str | os.PathLike) -> Path:
    """Return the path of an ordinary file of acceptable size. Raises UrdfError."""
    return checked_path(path, MAX_BYTES, UrdfError, "URDF", "XML starts with '<'")


def parse_xml(data: str | bytes, file: str, folder: Path | None = None) -> XmlSource:
    """Parse XML text with every limit and check of this module. Raises UrdfError."""
    if len(data) > MAX_BYTES:
        raise too_large(UrdfError, file, len(data), MAX_BYTES, "URDF")
    text = decoded(data, file) if isinstance(data, bytes) else data
    body = text.lstrip("\ufeff \t\r\n")
    first_line = 1 + _line_breaks(text[: len(text) - len(body)])
    if not body:
        raise _refuse(file, 1, "is empty", "", "a URDF holds one <robot> element")
    if body[0] != "<":
        raise _refuse(file, first_line, "not XML", f"starts with {shortened(body[:40])!r}", "a URDF starts with <robot")
    if body.count("<") > MAX_TAGS:
        raise _refuse(file, first_line, "too many tags", f"more than {MAX_TAGS}", "no robot needs this")
    _refuse_doctype(body, file, first_line)
    root, warnings = _parse(body, file, first_line)
    return XmlSource(file, folder, text.lstrip("\ufeff"), root, first_line, warnings)


def decoded(data: bytes, file: str) -> str:
    """Text of a file by its byte order mark or XML declaration, UTF-8 otherwise. Raises UrdfError."""
    encoding = next((name for mark, name in _BOMS if data.startswith(mark)), "")
    if not encoding:
        declared = _DECLARED_ENCODING.match(data[:500].decode("latin-1"))
        encoding = declared.group(1) if declared else "utf-8"
    try:
        known = codecs.lookup(encoding).name
    except LookupError:
        known = ""
    if known not in _ENCODINGS:
        raise _refuse(file, 1, "unknown text encoding", encoding, "save the file as UTF-8")
    try:
        text = data.decode(known)
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        bad = f"byte 0x{data[error.start]:02x}" if error.start < len(data) else "it ends inside a character"
        raise _refuse(file, line, f"not {encoding} text", bad, "save the file as UTF-8") from None
    # Text has no encoding any more; whoever writes it out again writes UTF-8.
    declared = _DECLARED_ENCODING.match(text[:500])
    return text[: declared.start(1)] + "utf-8" + text[declared.end(1) :] if declared else text


def _refuse_doctype(body: str, file: str, first_line: int) -> None:
    """Refuse a document type before the parser sees it: only there can entities be declared, and no URDF needs one."""
    position = 0
    while True:
        position = _SPACE.match(body, position).end()  # type: ignore[union-attr]
        if body.startswith("<?", position):
            end = body.find("?>", position)
        elif body.startswith("<!--", position):
            end = body.find("-->", position)
        else:
            break
        if end < 0:
            return
        position = end + (2 if body[end] == "?" else 3)
    if body[position : position + 9].upper() == "<!DOCTYPE":
        line = first_line + _line_breaks(body[:position])
        value = shortened(re.split(r"[\[>]", body[position : position + 60])[0], 40)
        raise _refuse(file, line, "DOCTYPE and entities are refused", value, "delete the declaration")


def _parse(body: str, file: str, first_line: int) -> tuple[etree._Element, tuple[Problem, ...]]:
    try:
        data = body.encode("utf-8")
    except UnicodeEncodeError as error:
        line = first_line + _line_breaks(body[: error.start])
        raise _refuse(file, line, "not text", f"{body[error.start]!r}", "pass text that UTF-8 can hold") from None
    strict = _parser(recover=False)
    try:
        return _checked_root(etree.fromstring(data, strict), file), ()
    except etree.XMLSyntaxError as error:
        entries = list(strict.error_log)
        if not entries:
            raise _refuse(file, first_line, "not well-formed XML", str(error), "") from None
    if any(entry.type_name not in _TOLERATED for entry in entries):
        raise UrdfError(_xml_errors(entries, file, first_line))
    lenient = _parser(recover=True)
    root = etree.fromstring(data, lenient)
    entries = list(lenient.error_log)
    fatal = [entry for entry in entries if entry.type_name not in _TOLERATED]
    if fatal or root is None:
        raise UrdfError(_xml_errors(fatal or entries, file, first_line))
    return _checked_root(root, file), tuple(_xml_problem(entry, file, first_line, "warning") for entry in entries)


def _parser(recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        encoding="utf-8", recover=recover, resolve_entities=False, no_network=True, load_dtd=False,
        dtd_validation=False, attribute_defaults=False, huge_tree=False, remove_comments=True, remove_pis=True,
    )  # fmt: skip


def _checked_root(root: etree._Element, file: str) -> etree._Element:
    document = root.getroottree().docinfo
    if document.internalDTD is not None or document.externalDTD is not None:
        raise _refuse(file, 1, "DOCTYPE and entities are refused", "", "delete the declaration")
    return root


def _xml_errors(entries: list[etree._LogEntry], file: str, first_line: int) -> list[Problem]:
    """One problem per line: what the parser says after its first complaint is an echo of it."""
    first = {entry.line: entry for entry in reversed(entries)}
    return [_xml_problem(entry, file, first_line, "error") for entry in first.values()]


def _xml_problem(entry: etree._LogEntry, file: str, first_line: int, severity: str) -> Problem:
    rule = "not well-formed XML" if severity == "error" else "sloppy XML"
    hint = _XML_HINTS.get(entry.type_name, "")
    message = shortened(entry.message, 120).replace(", use XML_PARSE_HUGE option", "")
    return Problem(file, entry.line + first_line - 1, "xml", "", rule, message, hint, severity)


def _line_breaks(text: str) -> int:
    # A lone carriage return is a line break too, but never counted by libxml2.
    return text.count("\n")


def _refuse(file: str, line: int, rule: str, value: str, hint: str) -> UrdfError:
    return UrdfError([Problem(file, line, "file", "", rule, value, hint)])
