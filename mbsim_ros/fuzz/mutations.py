# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Changes to valid material: to its bytes, to its words and numbers, and to the tree that it describes."""

from __future__ import annotations

import copy
import re
from random import Random
from xml.etree import ElementTree

NUMBERS = (
    "0", "-0", "1", "-1", "nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "1e999", "1e-9", "1e9", "0.5", "1e16",
    "9" * 400, "0x10", "1,5", "1_0", "true", "1 2", "1 2 3 4 5 6 7",
)  # fmt: skip
WORDS = (
    "", " ", "\n", "é", "𝔘", "\x07", "\u202e", "a" * 5000, "../../etc", "/", "//", "package://x", "file:///dev/zero",
    "${x}", "$(x)", "&x;", "<", "]]>", "null", "~", "[]", "{}", "*a", "&a", "!!python/object:os.system", "base",
    "world", "'", '"', "2001-99-99", "%s%n", "revolute", "floating", "planar", "spherical", "fixed", "mimic",
)  # fmt: skip
VALUES: tuple[object, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 10**400, 0.0, -0.0, 1e308, 5e-324, float("nan"),
    float("inf"), -float("inf"), 1e-9, 1e9, "", "nan", "a" * 2000, "é", "\0", [], {}, [[]], {"": None}, [0.0] * 3,
    [1e308] * 3, [float("nan")] * 3,
)  # fmt: skip
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"[A-Za-z_][\w./]*")


def mutated_bytes(data: bytes, random: Random) -> bytes:
    """A few bytes flipped, cut out, doubled, exchanged or put in."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 4, 16))):
        at, length = random.randrange(len(changed) + 1), random.choice((1, 1, 4, 8, 64, 1000))
        change = random.randrange(7)
        if change == 0 and at < len(changed):
            changed[at] ^= 1 << random.randrange(8)
        elif change == 1:
            del changed[at : at + length]
        elif change == 2:
            changed[at:at] = changed[at : at + length]
        elif change == 3:
            changed[at:at] = random.randbytes(min(length, 64))
        elif change == 4:
            changed[at : at + length] = random.choice((b"\0", b"\xff", b"\x7f")) * len(changed[at : at + length])
        elif change == 5 and random.random() < 0.3:
            del changed[at:]
        elif change == 6:
            other = random.randrange(len(changed) + 1)
            changed[at : at + length] = changed[other : other + length]
    return bytes(changed)


def mutated_text(text: str, random: Random) -> str:
    """Some numbers, words or lines exchanged."""
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        change = random.randrange(5)
        if change == 0:
            text = _replaced(text, _NUMBER, random.choice(NUMBERS), random)
        elif change == 1:
            text = _replaced(text, _WORD, random.choice(WORDS), random)
        elif change == 2:
            words = _WORD.findall(text)
            text = _replaced(text, _WORD, random.choice(words), random) if words else text
        else:
            lines = text.splitlines(keepends=True) or [""]
            at, other = random.randrange(len(lines)), random.randrange(len(lines))
            if change == 3:
                lines[at] = random.choice(("", lines[at] * 2, lines[other], " " + lines[at], lines[at].lstrip()))
            else:
                lines[at], lines[other] = lines[other], lines[at]
            text = "".join(lines)
    return text


def mutated_tree(value: object, random: Random) -> object:
    """A value of JSON or YAML with some of its parts exchanged, left out or doubled; the given one stays as it is."""
    value = copy.deepcopy(value)
    for _ in range(random.choice((1, 1, 2, 4))):
        holders = [each for each in _parts(value) if each and isinstance(each, (dict, list))]
        if not holders:
            return random.choice(VALUES)
        holder = random.choice(holders)
        key = random.choice(list(holder)) if isinstance(holder, dict) else random.randrange(len(holder))
        change = random.randrange(6)
        if change == 0:
            del holder[key]
        elif change == 1 and isinstance(holder, dict):
            holder[random.choice(WORDS)] = holder.pop(key)
        elif change == 2:
            holder[key] = copy.deepcopy(random.choice(list(_parts(value))))
        elif change == 3 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        elif change == 4:
            for _ in range(random.choice((1, 3, 40))):
                holder[key] = [holder[key]] if random.random() < 0.5 else {"a": holder[key]}
        else:
            holder[key] = copy.deepcopy(random.choice(VALUES))
    return value


def mutated_xml(root: ElementTree.Element, random: Random) -> str:
    """The text of an XML tree with some elements and attributes exchanged, left out, doubled or moved."""
    root = copy.deepcopy(root)
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        elements = list(root.iter())
        element, other = random.choice(elements), random.choice(elements)
        change = random.randrange(8)
        if change <= 2 and element.attrib:
            name = random.choice(list(element.attrib))
            element.set(name, _attribute(element.get(name) or "", other, random))
        elif change == 3 and element.attrib:
            name = random.choice(list(element.attrib))
            value = element.attrib.pop(name)
            if random.random() < 0.3:
                element.set(random.choice(_WORD.findall(" ".join(each.tag for each in elements))), value)
        elif change == 4 and len(element):
            element.remove(random.choice(list(element)))
        elif change == 5 and len(element):
            element.append(copy.deepcopy(random.choice(list(element))))
        elif change == 6 and not any(each is element for each in other.iter()):
            element.append(copy.deepcopy(other))
        elif change == 7:
            element.tag = other.tag if random.random() < 0.8 else "odd"
    text = ElementTree.tostring(root, encoding="unicode")
    if random.random() < 0.002:  # nested deeper than any reader likes
        return text.replace(">", ">" + "<a>" * 3000 + "</a>" * 3000, 1)
    return text


def _attribute(old: str, other: ElementTree.Element, random: Random) -> str:
    change = random.randrange(4)
    if change == 0 and other.attrib:
        return random.choice(list(other.attrib.values()))
    if change == 1 and _NUMBER.search(old):
        return _replaced(old, _NUMBER, random.choice(NUMBERS), random)
    return random.choice(NUMBERS if change == 2 else WORDS)


def _replaced(text: str, pattern: re.Pattern[str], word: str, random: Random) -> str:
    places = list(pattern.finditer(text))
    if not places:
        return text + word
    place = random.choice(places)
    return text[: place.start()] + word + text[place.end() :]


def _parts(value: object) -> list[object]:
    """A value and all that is in it."""
    found, waiting = [], [value]
    while waiting:
        each = waiting.pop()
        found.append(each)
        waiting += each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
    return found
