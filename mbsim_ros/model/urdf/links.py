# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Reading <link> and <material> elements."""

from __future__ import annotations

from lxml import etree

from mbsim_ros.model.assembly.inertia_rules import check_inertia
from mbsim_ros.model.description import (
    Box,
    Capsule,
    Collision,
    Cylinder,
    Geometry,
    Inertial,
    Link,
    Material,
    Mesh,
    Sphere,
    Vector3,
    Visual,
)
from mbsim_ros.model.problems import shortened
from mbsim_ros.model.urdf.element_reader import TOO_LARGE, ElementReader
from mbsim_ros.model.urdf.mesh_paths import MeshNotFoundError, MeshResolver

_COMPONENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def parse_link(
    reader: ElementReader, element: etree._Element, materials: dict[str, Material], meshes: MeshResolver
) -> Link | None:
    """Return a link, None if it has no name."""
    name = reader.within("link", element.get("name", "")).text(element, "name", "link name")
    if name is None:
        return None
    here = reader.within("link", name)
    visuals = [_visual(here, tag, materials, meshes) for tag in here.children(element, "visual")]
    collisions = [_collision(here, tag, meshes) for tag in here.children(element, "collision")]
    shapes = [shape for shape in (*collisions, *visuals) if shape is not None]
    return Link(
        name,
        _inertial(here, element, [shape.geometry for shape in shapes]),
        tuple(visual for visual in visuals if visual is not None),
        tuple(collision for collision in collisions if collision is not None),
        here.line(element),
    )


def _inertial(here: ElementReader, link: etree._Element, shapes: list[Geometry]) -> Inertial | None:
    tag = here.child(link, "inertial")
    if tag is None:
        return None
    origin = here.origin(tag)
    mass = _mass(here, tag)
    inertia = _inertia(here, tag, mass)
    if mass is None or inertia is None:
        return None
    ixx, ixy, ixz, iyy, iyz, izz = inertia
    inertial = Inertial(mass, origin, ((ixx, ixy, ixz), (ixy, iyy, iyz), (ixz, iyz, izz)), here.line(tag))  # type: ignore[arg-type]
    check_inertia(here, tag, inertial, shapes)
    return inertial


def _mass(here: ElementReader, inertial: etree._Element) -> float | None:
    tag = here.child(inertial, "mass")
    if tag is None:
        hint = 'add <mass value="…"/> or drop <inertial>'
        here.error(inertial, "inertial without mass", "<inertial> has no <mass>", hint)
        return None
    mass = here.number(tag, "value")
    if mass is None:
        return None
    if mass < 0:
        here.error(tag, "negative mass", f"{mass:g} kg", "a mass is zero or positive")
        return None
    if mass > TOO_LARGE:
        here.error(tag, "absurd mass", f"{mass:g} kg", "kilograms are expected")
        return None
    if mass > 1e5:
        here.warn(tag, "implausible mass", f"{mass:g} kg", "kilograms are expected")
    return mass


def _inertia(here: ElementReader, inertial: etree._Element, mass: float | None) -> tuple[float, ...] | None:
    tag = here.child(inertial, "inertia")
    if tag is None:
        rule = "inertial without inertia" if mass is None else "mass without inertia"
        here.error(inertial, rule, "<inertial> has no <inertia>", "add it, all zero for a point mass")
        return None
    components = [here.number(tag, component) for component in _COMPONENTS]
    if any(component is None for component in components):
        return None
    values = tuple(component for component in components if component is not None)
    largest = max(values, key=abs)
    if abs(largest) > TOO_LARGE:
        here.error(tag, "absurd inertia", f"{largest:g} kg m²", "kg m² are expected")
        return None
    return values


def _visual(
    here: ElementReader, tag: etree._Element, materials: dict[str, Material], meshes: MeshResolver
) -> Visual | None:
    origin = here.origin(tag)
    material_tag = here.child(tag, "material")
    material = None if material_tag is None else parse_material(here, material_tag, materials)
    geometry = _geometry(here, tag, meshes)
    if geometry is None:
        return None
    return Visual(geometry, origin, material, tag.get("name", ""), here.line(tag))


def _collision(here: ElementReader, tag: etree._Element, meshes: MeshResolver) -> Collision | None:
    origin = here.origin(tag)
    geometry = _geometry(here, tag, meshes)
    return None if geometry is None else Collision(geometry, origin, tag.get("name", ""), here.line(tag))


def _geometry(here: ElementReader, shape: etree._Element, meshes: MeshResolver) -> Geometry | None:
    """Shape of a <visual> or <collision>; None if there is nothing usable."""
    tag = here.child(shape, "geometry")
    found = [] if tag is None else [child for child in tag if here.source.tag(child) in _GEOMETRIES]
    if not found:
        here.warn(shape, "shape without geometry", f"<{here.source.tag(shape)}>", "it is left out")
        return None
    if len(found) > 1:
        here.warn(found[1], "tag given twice", "several shapes in <geometry>", "the first is used")
    return _GEOMETRIES[here.source.tag(found[0])](here, found[0], meshes)


def _box(here: ElementReader, tag: etree._Element, _: MeshResolver) -> Box | None:
    if tag.get("size") is None:
        here.error(tag, "missing number", "<box> has no size", "add size")
        return None
    size = here.vector(tag, "size", 3)
    if size is None or not _positive(here, tag, "size", size):
        return None
    return Box((size[0], size[1], size[2]), here.line(tag))


def _sphere(here: ElementReader, tag: etree._Element, _: MeshResolver) -> Sphere | None:
    radius = here.number(tag, "radius")
    if radius is None or not _positive(here, tag, "radius", (radius,)):
        return None
    return Sphere(radius, here.line(tag))


def _cylinder(here: ElementReader, tag: etree._Element, _: MeshResolver) -> Cylinder | Capsule | None:
    radius, length = here.number(tag, "radius"), here.number(tag, "length")
    if radius is None or length is None:
        return None
    sound = [_positive(here, tag, "radius", (radius,)), _positive(here, tag, "length", (length,))]
    kind = Capsule if here.source.tag(tag) == "capsule" else Cylinder
    return kind(radius, length, here.line(tag)) if all(sound) else None


def _mesh(here: ElementReader, tag: etree._Element, meshes: MeshResolver) -> Mesh | None:
    filename = here.text(tag, "filename", "mesh file name")
    scale: Vector3 = (1.0, 1.0, 1.0)
    factors = here.vector(tag, "scale", 3)
    if factors is not None:  # negative factors mirror and are fine
        scale = (factors[0], factors[1], factors[2])
        if 0.0 in scale or max(map(abs, scale)) > TOO_LARGE:
            here.warn(tag, "shape without size", f'mesh scale="{shortened(tag.get("scale", ""))}"', "scale 1 is usual")
    if filename is None:
        return None
    path = None
    try:
        path = meshes.resolve(filename)
    except MeshNotFoundError as missing:
        here.warn(tag, missing.rule, shortened(filename, 120), missing.hint)
    return Mesh(filename, scale, path, here.line(tag))


_GEOMETRIES = {"box": _box, "sphere": _sphere, "cylinder": _cylinder, "capsule": _cylinder, "mesh": _mesh}


def _positive(here: ElementReader, tag: etree._Element, attribute: str, values: tuple[float, ...]) -> bool:
    shown = f'{here.source.tag(tag)} {attribute}="{shortened(tag.get(attribute, ""))}"'
    if min(values) < 0:
        here.error(tag, "negative size", shown, "sizes are positive, in metres")
        return False
    if max(values) > TOO_LARGE:
        here.error(tag, "absurd length", shown, "metres are expected")
        return False
    if min(values) == 0:
        here.warn(tag, "shape without size", shown, "sizes are positive, in metres")
    return True


def parse_material(here: ElementReader, tag: etree._Element, materials: dict[str, Material]) -> Material | None:
    """Return a material; a bare name refers to one defined before. What is wrong with it never stops a robot."""
    name = tag.get("name", "")
    colour, texture = here.child(tag, "color"), here.child(tag, "texture")
    if colour is None and texture is None:
        if name not in materials:
            here.warn(tag, "unknown material", f"'{shortened(name)}'", "define it with a <color> below <robot>")
        return materials.get(name)
    rgba = None if colour is None else _colour(here, colour)
    material = Material(name, rgba, None if texture is None else texture.get("filename"), here.line(tag))
    if name:
        materials.setdefault(name, material)
    return material


def _colour(here: ElementReader, tag: etree._Element) -> tuple[float, float, float, float] | None:
    """Read a colour leniently: it is only looked at."""
    try:
        rgba = [float(word) for word in tag.get("rgba", "").split()]
    except ValueError:
        rgba = []
    if len(rgba) != 4 or not all(0 <= value <= 1 for value in rgba):
        shown = f'rgba="{shortened(tag.get("rgba", ""))}"'
        here.warn(tag, "unusable colour", shown, "four numbers from 0 to 1 are expected")
        return None
    return (rgba[0], rgba[1], rgba[2], rgba[3])
