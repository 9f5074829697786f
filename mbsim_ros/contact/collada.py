# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Triangles of a COLLADA file (.dae): those of its meshes, placed by the nodes of its scene, in metres, with colours.

The up axis that a file may name is left alone, as RViz does: links are where the URDF has them in either program.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from lxml import etree
from transforms3d.axangles import axangle2mat

FACES = ("triangles", "polylist", "polygons", "tristrips", "trifans")
DEEPEST = 64  # nodes within nodes, and nodes that are instances of others
MOST_INSTANCES = 10_000  # nodes and meshes that a scene may have: those that name each other must not multiply
MOST_VERTICES = 10_000_000  # of a scene, where a large mesh may stand many times

Colour = tuple[float, float, float, float]  # red, green, blue, opacity in 0…1


class MeshPart(NamedTuple):
    """Triangles of one colour: vertices (n, 3), faces (m, 3) of their numbers; colour None where a file has none."""

    vertices: np.ndarray
    faces: np.ndarray
    colour: Colour | None = None


class _Primitive(NamedTuple):
    """Part of a mesh before it is placed; material: a word that each instance binds to a material."""

    vertices: np.ndarray
    faces: np.ndarray
    material: str


def collada_vertices(content: bytes) -> np.ndarray:
    """All vertices (n, 3) of a file's scene that faces use. Raises ValueError where it is none."""
    found = [part.vertices for part in collada_parts(content)]
    return np.concatenate(found) if found else np.empty((0, 3))


def collada_parts(content: bytes) -> list[MeshPart]:
    """What a file's scene consists of. Raises ValueError where it is none."""
    root = _document(content)
    unit = root.find("asset/unit")
    scale = float(unit.get("meter", "1")) if unit is not None else 1.0
    meshes = {geometry.get("id", "?"): _primitives(geometry) for geometry in root.iter("geometry")}
    meshes.pop("", None)
    nodes = {node.get("id", ""): node for node in root.iter("node")}
    colours = _colours(root)
    placed, count = [], 0
    for scene in root.iter("visual_scene"):
        for visited, (X, instance) in enumerate(_instances(scene, np.eye(4), nodes, 0)):
            primitives = [] if instance is None else meshes.get(_name(instance), [])
            count += sum(len(primitive.vertices) for primitive in primitives)
            if visited > MOST_INSTANCES or count > MOST_VERTICES:
                raise ValueError("too many nodes or vertices")
            placed += [
                _placed(primitive, scale, X, _colour_of(primitive, instance, colours)) for primitive in primitives
            ]
    if placed:
        return placed
    return [_placed(primitive, scale, np.eye(4), None) for mesh in meshes.values() for primitive in mesh]


def _document(content: bytes) -> etree._Element:
    if b"<!DOCTYPE" in content:
        raise ValueError("a document type, which COLLADA has none of")
    # The caller bounds the size of the file; without entities nothing in it grows.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(str(error)) from None
    for element in root.iter(etree.Element):  # names without the namespace, which versions have their own of
        element.tag = etree.QName(element).localname
    return root


def _placed(primitive: _Primitive, scale: float, X: np.ndarray, colour: Colour | None) -> MeshPart:
    faces = primitive.faces[:, ::-1] if np.linalg.det(X[:3, :3]) < 0.0 else primitive.faces  # a mirror turns them over
    return MeshPart(scale * (primitive.vertices @ X[:3, :3].T + X[:3, 3]), faces, colour)


def _instances(
    parent: etree._Element, X: np.ndarray, nodes: dict[str, etree._Element], depth: int
) -> Iterator[tuple[np.ndarray, etree._Element | None]]:
    """Every instance of a mesh below a node, and where it is placed; the node itself with None."""
    yield X, None
    if depth > DEEPEST:
        raise ValueError("nodes are nested too deeply")
    for child in parent:
        if child.tag == "node":
            yield from _instances(child, X @ _transform(child), nodes, depth + 1)
        elif child.tag == "instance_node":
            other = nodes.get(_name(child))
            if other is not None:
                yield from _instances(other, X @ _transform(other), nodes, depth + 1)
        elif child.tag == "instance_geometry":
            yield X, child


def _transform(node: etree._Element) -> np.ndarray:
    """The product of a node's transforms, in the order in which they stand."""
    X = np.eye(4)
    for child in node:
        if child.tag not in ("matrix", "translate", "scale", "rotate"):
            continue
        numbers, step = _numbers(child), np.eye(4)
        if child.tag == "matrix":
            step = numbers.reshape(4, 4)
        elif child.tag == "translate":
            step[:3, 3] = numbers
        elif child.tag == "scale":
            step[:3, :3] = np.diag(numbers)
        else:
            step[:3, :3] = axangle2mat(numbers[:3], math.radians(numbers[3]))
        X = X @ step
    return X


def _colours(root: etree._Element) -> dict[str, Colour]:
    """Diffuse colours by the names of materials; those with a texture have none."""
    effects = {effect.get("id", ""): effect for effect in root.iter("effect")}
    found = {}
    for material in root.iter("material"):
        link = material.find("instance_effect")
        effect = None if link is None else effects.get(_name(link))
        diffuse = None if effect is None else effect.find(".//diffuse/color")
        if diffuse is not None:
            numbers = np.clip(_numbers(diffuse), 0.0, 1.0).tolist()
            if len(numbers) >= 3:
                found[material.get("id", "")] = (*numbers[:3], _opacity(numbers[3:]))
    return found


def _opacity(given: list[float]) -> float:
    return given[0] if given and given[0] > 0.0 else 1.0  # exporters write 0 for opaque: nothing is drawn to be unseen


def _colour_of(primitive: _Primitive, instance: etree._Element | None, colours: dict[str, Colour]) -> Colour | None:
    """Colour that an instance gives to a part: by its bindings, else by the material of the part's own name."""
    for binding in () if instance is None else instance.iter("instance_material"):
        if binding.get("symbol") == primitive.material:
            return colours.get(str(binding.get("target", "")).lstrip("#"))
    return colours.get(primitive.material)


def _primitives(geometry: etree._Element) -> list[_Primitive]:
    """The faces of a mesh in its own frame; what only lines or nothing names is not part of it."""
    mesh = geometry.find("mesh")
    if mesh is None:
        return []
    sources = {source.get("id", ""): source for source in mesh.iterfind("source")}
    places = {}
    for vertices in mesh.iterfind("vertices"):
        for given in vertices.iterfind("input[@semantic='POSITION']"):
            places[vertices.get("id", "")] = _table(sources.get(_target(given)))
    found = []
    for faces in mesh:
        if faces.tag not in FACES:
            continue
        inputs = faces.findall("input")
        stride = 1 + max((int(given.get("offset", "0")) for given in inputs), default=0)
        for given in inputs:
            table = places.get(_target(given)) if given.get("semantic") == "VERTEX" else None
            if table is not None:
                rows = [_numbers(p, np.int64)[int(given.get("offset", "0")) :: stride] for p in faces.iter("p")]
                used, corners = np.unique(_triangles(faces, rows), return_inverse=True)
                found.append(_Primitive(table[used], corners.reshape(-1, 3), faces.get("material", "")))
    return found


def _triangles(faces: etree._Element, rows: list[np.ndarray]) -> np.ndarray:
    """Numbers of vertices (m, 3): polygons are cut into fans, which is right for convex ones."""
    corners = np.concatenate([*rows, np.empty(0, np.int64)])
    if faces.tag == "triangles":
        return corners[: len(corners) // 3 * 3].reshape(-1, 3)
    if faces.tag == "tristrips":
        strips = [np.stack([row[:-2], row[1:-1], row[2:]], axis=1) for row in rows if len(row) > 2]
        for strip in strips:
            strip[1::2] = strip[1::2, ::-1]  # every other one is the other way round
        return np.concatenate(strips) if strips else np.empty((0, 3), np.int64)
    counts = np.array([len(row) for row in rows], np.int64)
    if faces.tag == "polylist":
        element = faces.find("vcount")
        counts = np.empty(0, np.int64) if element is None else _numbers(element, np.int64)
    if (counts < 0).any() or counts.sum() > len(corners):
        raise ValueError("polygons with more corners than there are")
    return corners[fans(counts)]


def fans(counts: np.ndarray) -> np.ndarray:
    """Corners (m, 3) of the triangles of polygons that follow each other with so many corners each (n,)."""
    starts = np.cumsum(counts) - counts
    found = []
    for k in range(1, int(counts.max(initial=2)) - 1):
        first = starts[counts > k + 1]
        found.append(np.stack([first, first + k, first + k + 1], axis=1))
    return np.concatenate(found) if found else np.empty((0, 3), np.int64)


def _table(source: etree._Element | None) -> np.ndarray:
    """The places (n, 3) of a source of numbers."""
    array = None if source is None else source.find("float_array")
    if source is None or array is None:
        return np.empty((0, 3))
    accessor = source.find("technique_common/accessor")
    stride = 3 if accessor is None else int(accessor.get("stride", "3"))
    numbers = _numbers(array)
    return numbers[: len(numbers) // stride * stride].reshape(-1, stride)[:, :3]


def _target(given: etree._Element) -> str:
    return str(given.get("source", "")).lstrip("#")


def _numbers(element: etree._Element, kind: type = float) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of words that are no numbers
        try:
            return np.fromstring(element.text or "", dtype=kind, sep=" ")
        except DeprecationWarning as error:
            raise ValueError(str(error)) from None


def _name(instance: etree._Element) -> str:
    return str(instance.get("url", "")).lstrip("#")
