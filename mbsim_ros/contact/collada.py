# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Vertices of a COLLADA file (.dae): those of its meshes, placed by the nodes of its scene, in metres.

The up axis that a file may name is left alone, as RViz does: links are where the URDF has them in either program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from lxml import etree
from transforms3d.axangles import axangle2mat

FACES = ("triangles", "polylist", "polygons", "tristrips", "trifans")
DEEPEST = 64  # nodes within nodes, and nodes that are instances of others
MOST_INSTANCES = 10_000  # nodes and meshes that a scene may have: those that name each other must not multiply
MOST_VERTICES = 10_000_000  # of a scene, where a large mesh may stand many times


def collada_vertices(content: bytes) -> np.ndarray:
    """All vertices (n, 3) of a file's scene. Raises ValueError where it is none."""
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
    unit = root.find("asset/unit")
    scale = float(unit.get("meter", "1")) if unit is not None else 1.0
    meshes = {geometry.get("id", "?"): _positions(geometry) for geometry in root.iter("geometry")}
    meshes.pop("", None)
    nodes = {node.get("id", ""): node for node in root.iter("node")}
    placed, count = [], 0
    for scene in root.iter("visual_scene"):
        for visited, (X, mesh) in enumerate(_instances(scene, np.eye(4), nodes, 0)):
            vertices = meshes.get(mesh, np.empty((0, 3)))
            count += len(vertices)
            if visited > MOST_INSTANCES or count > MOST_VERTICES:
                raise ValueError("too many nodes or vertices")
            if len(vertices):
                placed.append(vertices @ X[:3, :3].T + X[:3, 3])
    found = placed or list(meshes.values())
    return scale * np.concatenate(found) if found else np.empty((0, 3))


def _instances(
    parent: etree._Element, X: np.ndarray, nodes: dict[str, etree._Element], depth: int
) -> Iterator[tuple[np.ndarray, str]]:
    """Every mesh below a node, by name, and where it is placed; a node itself with the name ""."""
    yield X, ""
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
            yield X, _name(child)


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


def _positions(geometry: etree._Element) -> np.ndarray:
    """The vertices (n, 3) of a mesh's faces in its own frame; what only lines or nothing names is not part of it."""
    mesh = geometry.find("mesh")
    if mesh is None:
        return np.empty((0, 3))
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
                numbers = [_numbers(p)[int(given.get("offset", "0")) :: stride] for p in faces.iter("p")]
                used = np.unique(np.concatenate([*numbers, []]).astype(np.int64))
                found.append(table[used])
    return np.concatenate(found) if found else np.empty((0, 3))


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


def _numbers(element: etree._Element) -> np.ndarray:
    return np.array((element.text or "").split(), dtype=float)


def _name(instance: etree._Element) -> str:
    return str(instance.get("url", "")).lstrip("#")
