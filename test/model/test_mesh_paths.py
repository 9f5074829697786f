# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Meshes are found where robots keep them, and nowhere else."""

import os

import pytest

from mbsim_ros.model.urdf.mesh_paths import MeshNotFoundError, MeshResolver
from mbsim_ros.model.urdf.parser import parse_urdf


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A package with a robot, an installed package, a bare folder, and a secret."""
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    for file in (
        "ws/arm_description/package.xml", "ws/arm_description/urdf/arm.urdf", "ws/arm_description/urdf/near.stl",
        "ws/arm_description/meshes/a.stl", "ws/arm_description/meshes/with space.stl",
        "install/share/hand/meshes/h.stl", "install/share/ament_index/resource_index/packages/hand",
        "bare/b.stl", "secret.stl",
    ):  # fmt: skip
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("solid")
    return tmp_path


@pytest.fixture
def resolver(place):
    return MeshResolver(place / "ws/arm_description/urdf")


def _refused(resolver, name, rule):
    with pytest.raises(MeshNotFoundError) as caught:
        resolver.resolve(name)
    assert caught.value.rule == rule


def test_relative_paths_and_the_own_package(place, resolver):
    mesh = place / "ws/arm_description/meshes/a.stl"
    assert resolver.resolve("near.stl") == place / "ws/arm_description/urdf/near.stl"
    for name in ("../meshes/a.stl", "package://arm_description/meshes/a.stl", "package:///arm_description/meshes/a.stl",
                 f"file://{mesh}", f"file:{mesh}", str(mesh)):  # fmt: skip
        assert resolver.resolve(name) == mesh
    assert resolver.resolve(f"file://{mesh.parent}/with%20space.stl").name == "with space.stl"


def test_installed_packages(place, resolver, monkeypatch):
    _refused(resolver, "package://hand/meshes/h.stl", "package of a mesh not found")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere{os.pathsep}{place / 'install'}")
    fresh = MeshResolver(resolver.folder)
    assert fresh.resolve("package://hand/meshes/h.stl") == place / "install/share/hand/meshes/h.stl"


def test_ros_package_path(place, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{place / 'ws'}")
    assert MeshResolver(None).resolve("package://arm_description/meshes/a.stl").name == "a.stl"
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{place / 'ws/arm_description'}")
    assert MeshResolver(None).resolve("package://arm_description/meshes/a.stl").name == "a.stl"


def test_package_dirs(place):
    for folder in (place, place / "bare"):
        assert MeshResolver(None, [str(folder)]).resolve("package://bare/b.stl") == place / "bare/b.stl"


@pytest.mark.parametrize(
    "name",
    [
        "../../../secret.stl", "../../../../../../../../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd",
        "package://arm_description/../../secret.stl", "package://arm_description//../../secret.stl", "link.stl",
        "folder/secret.stl",
    ],
)  # fmt: skip
def test_paths_out_of_the_robot_are_refused(place, resolver, name):
    os.symlink(place / "secret.stl", resolver.folder / "link.stl")
    os.symlink(place, resolver.folder / "folder")
    _refused(resolver, name, "mesh outside the robot's folders")
    MeshResolver(resolver.folder, allow_outside=True).resolve(name)


@pytest.mark.parametrize(
    "name, rule",
    [
        ("missing.stl", "mesh not found"), (".", "mesh not found"), ("x" * 5000, "mesh not found"),
        ("package://../secret.stl", "mesh not found"), ("package://", "mesh not found"),
        ("package://.hidden/a.stl", "mesh not found"), ("file://relative.stl", "mesh not found"),
        ("http://example.com/a.stl", "mesh address not supported"), ("model://arm/a.stl", "mesh address not supported"),
        ("loop.stl", "mesh not found"), ("nul\0.stl", "mesh not found"), ("C:/meshes/a.stl", "mesh not found"),
    ],
)  # fmt: skip
def test_names_without_a_file(resolver, name, rule):
    os.symlink(resolver.folder / "loop.stl", resolver.folder / "loop.stl")
    _refused(resolver, name, rule)


def test_a_package_that_was_handed_on_without_its_name(place):
    (place / "copy/urdf").mkdir(parents=True)
    (place / "copy/meshes").mkdir()
    (place / "copy/meshes/a.stl").write_text("solid")
    copy = MeshResolver(place / "copy/urdf")
    for name in ("../meshes/a.stl", "package://arm_description/meshes/a.stl"):
        assert copy.resolve(name) == place / "copy/meshes/a.stl"
    _refused(copy, "package://arm_description/../secret.stl", "mesh outside the robot's folders")
    _refused(copy, "../../secret.stl", "mesh outside the robot's folders")
    _refused(MeshResolver(place / "copy"), "../secret.stl", "mesh outside the robot's folders")


def test_text_has_no_folder():
    _refused(MeshResolver(None), "a.stl", "mesh not found")


def test_a_published_text_names_mesh_files_anywhere_and_nothing_else(place):
    published = MeshResolver(None, found={"package://lost/m.stl": str(place / "bare/b.stl"), "x.stl": "/etc/passwd"})
    assert published.resolve((place / "secret.stl").as_uri()) == place / "secret.stl"
    assert published.resolve("package://lost/m.stl") == place / "bare/b.stl"
    os.symlink("/etc/passwd", place / "innocent.stl")
    _refused(published, (place / "innocent.stl").as_uri(), "mesh outside the robot's folders")
    _refused(published, "file:///etc/passwd", "mesh outside the robot's folders")
    _refused(published, str(place / "secret.stl"), "mesh outside the robot's folders")
    _refused(published, "x.stl", "mesh not found")


def test_the_description_carries_the_path(place):
    path = place / "ws/arm_description/urdf/arm.urdf"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    shape = '<visual><geometry><mesh filename="package://bare/b.stl" scale="1 -1 1"/></geometry></visual>'
    path.write_text(f'<robot name="r"><link name="a">{inertial}{shape}</link></robot>')
    mesh = parse_urdf(path, package_dirs=[place], strict=True).link("a").visuals[0].geometry
    assert (mesh.path, mesh.scale) == (place / "bare/b.stl", (1, -1, 1))
