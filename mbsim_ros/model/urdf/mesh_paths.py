# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Finding mesh files without leaving the folders a robot may use.

A URDF from the network must not make a viewer open `/etc/passwd`. A mesh is taken only from the URDF's own folder
tree, from its package, and from the shares of known packages; symbolic links are followed before that is checked.

Who loads a robot's file finds its meshes, and says to others where they are: by `file://` in what it publishes, and in
recordings. Those who read that open mesh files (by their endings) wherever they are, and nothing else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from mbsim_ros.model.file_reading import OutsideFolder, is_file, resolved_inside

MESH_ENDINGS = (".stl", ".obj", ".dae")  # of files that contact and views read themselves, only ever as numbers
FOLDERS_OF_ROBOTS = ("urdf", "urdfs", "robot", "robots", "xacro")  # in a package, beside its meshes
_PACKAGE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")  # two letters at least: C:/ is a drive


class MeshNotFoundError(LookupError):
    """A mesh that is not there or may not be read; `rule` and `hint` say why."""

    def __init__(self, rule: str, hint: str) -> None:
        """Keep the two parts for a `Problem`."""
        super().__init__(f"{rule}, {hint}")
        self.rule = rule
        self.hint = hint


@dataclass
class MeshResolver:
    """Turns the mesh names of one URDF into paths.

    `folder` is the folder of the URDF (None for XML text), `package_dirs` are packages or folders of packages.
    `found` is for a text that another process has published: where it found meshes, by their names as written. With it,
    even if it is empty, mesh files may be anywhere.
    """

    folder: Path | None = None
    package_dirs: Iterable[str | os.PathLike] = ()
    allow_outside: bool = False
    found: Mapping[str, str] | None = None
    _packages: dict[str, Path | None] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Look up the surroundings of the file once."""
        self._places = [Path(place) for place in self.package_dirs]
        self._own_package = robot_folder(self.folder) if self.folder else None

    def resolve(self, filename: str) -> Path:
        """Return the existing file of a mesh name. Raises MeshNotFoundError."""
        try:
            known = Path((self.found or {}).get(filename, ""))
            if known.is_absolute() and _is_mesh_file(known.resolve()):
                return known.resolve()
            return self._checked(self._candidate(filename), filename)
        except (OSError, ValueError, RuntimeError):  # name too long, a null character, a loop of symbolic links
            raise MeshNotFoundError("mesh not found", "not a usable path") from None

    def package_share(self, name: str) -> Path | None:
        """Folder of a package: own package, `package_dirs`, AMENT_PREFIX_PATH, ROS_PACKAGE_PATH; None if unknown."""
        if name not in self._packages:
            own = [self._own_package] if self._own_package and self._own_package.name == name else []
            candidates = own + self._listed(name) + package_shares(name) + _ros_package_path(name)
            self._packages[name] = next((place for place in candidates if place.is_dir()), None)
        return self._packages[name]

    def _listed(self, name: str) -> list[Path]:
        return [place if place.absolute().name == name else place / name for place in self._places]

    def _candidate(self, filename: str) -> Path:
        """Where the name points to, before any check."""
        scheme = _SCHEME.match(filename)
        if scheme is None:
            if Path(filename).is_absolute():
                return Path(filename)
            if self.folder is None:
                raise MeshNotFoundError("mesh not found", "XML text has no folder: load the file instead")
            return self.folder / filename
        if scheme.group(1) == "file":
            return self._file_url(filename)
        if scheme.group(1) == "package":
            return self._package_url(filename)
        raise MeshNotFoundError("mesh address not supported", "use package://, file:// or a relative path")

    def _file_url(self, filename: str) -> Path:
        path = Path(unquote(filename[len("file:") :].removeprefix("//").removeprefix("localhost/")))
        if path.is_absolute():
            return path
        raise MeshNotFoundError("mesh not found", "file:// needs an absolute path")

    def _package_url(self, filename: str) -> Path:
        # Real files also write package:///name/…; both mean the same.
        name, _, rest = filename[len("package:") :].lstrip("/").partition("/")
        if not _PACKAGE_NAME.fullmatch(name):
            raise MeshNotFoundError("mesh not found", f"'{name}' is not a package name")
        share = self.package_share(name)
        if share is None and self._own_package is not None and _is_mesh_file(self._own_package / rest.lstrip("/")):
            share = self._own_package  # files that are handed on are seldom in a folder of their package's name
        if share is None:
            hint = f"source the workspace of '{name}' or give package_dirs"
            raise MeshNotFoundError("package of a mesh not found", hint)
        return share / rest.lstrip("/")

    def _checked(self, candidate: Path, filename: str) -> Path:
        path = candidate.resolve()
        is_published = self.found is not None and filename.startswith("file:") and _is_mesh_file(path)
        if not (self.allow_outside or is_published):
            try:
                resolved_inside(path, *self._roots())
            except OutsideFolder:
                hint = "move it there or pass allow_outside=True"
                raise MeshNotFoundError("mesh outside the robot's folders", hint) from None
        if not is_file(path):
            raise MeshNotFoundError("mesh not found", "check the path")
        return path

    def _roots(self) -> list[Path]:
        known = [share for share in self._packages.values() if share]
        own = [place for place in (self.folder, self._own_package) if place]
        return own + self._places + known


def _is_mesh_file(path: Path) -> bool:
    """Whether a path, links followed, is an ordinary file that is a mesh by its ending."""
    return path.suffix.lower() in MESH_ENDINGS and is_file(path)


def robot_folder(folder: Path) -> Path | None:
    """The package that a robot's file is in; without a package.xml the folder above `urdf` or `robots`, as usual."""
    found = enclosing_package(folder)
    return folder.absolute().parent if found is None and folder.absolute().name in FOLDERS_OF_ROBOTS else found


def enclosing_package(folder: Path) -> Path | None:
    """Nearest folder at or above `folder` with a package.xml."""
    folder = folder.absolute()
    return next((place for place in (folder, *folder.parents) if is_file(place / "package.xml")), None)


def package_shares(name: str) -> list[Path]:
    """Share folders of an installed ROS package, in the order of AMENT_PREFIX_PATH."""
    prefixes = [Path(prefix) for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if prefix]
    index = Path("share", "ament_index", "resource_index", "packages", name)
    return [prefix / "share" / name for prefix in prefixes if is_file(prefix / index)]


def _ros_package_path(name: str) -> list[Path]:
    places = [Path(place) for place in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if place]
    candidates = [place if place.name == name else place / name for place in places]
    return [place for place in candidates if is_file(place / "package.xml")]
