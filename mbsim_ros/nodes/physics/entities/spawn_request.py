# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What a caller of spawn_entity asks for, checked: robot, name, namespace and pose, or why it is refused.

The fields are those of simulation_interfaces 1.x (uri, resource_string) or of 2.x (entity_resource with both).
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.exceptions import InvalidNamespaceException
from rclpy.validate_namespace import validate_namespace
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import SpawnEntity
from transforms3d.euler import mat2euler

from mbsim_ros.dynamics.kinematics import link_pose_rows
from mbsim_ros.lie import quaternion
from mbsim_ros.model.catalogue import catalogue, is_name
from mbsim_ros.model.description import Origin
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import ProblemError, UrdfWarning
from mbsim_ros.model.urdf.mesh_paths import MeshNotFoundError, MeshResolver
from mbsim_ros.nodes.frames import frame_name
from mbsim_ros.sim.simulation import Simulation

FORMATS = ("URDF", "XACRO", "MJCF")
_CODES = SpawnEntity.Response
_ROBOT_FILES = (".urdf", ".xacro", ".xml", ".mjcf")
_NAME = re.compile(r"[^\s/+]{1,80}")
_FIRST_TAG = re.compile(r"<\s*([A-Za-z][\w:.-]*)")
_OTHER_FORMATS = ("sdf", "world", "usd", "usda", "usdc", "usdz")


class SpawnRefused(ValueError):
    """Why an entity is not spawned, with a result code of the standard."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


def requested_model(request: Any, package_dirs: Sequence[str]) -> tuple[Model, str]:
    """The model of a request, and what is not right with its file but does not keep it from being used."""
    resource = getattr(request, "entity_resource", request)  # 2.x, 1.x
    if not (resource.uri or resource.resource_string):
        raise SpawnRefused(_CODES.NO_RESOURCE, "expected a uri or a resource_string, got neither")
    source = _source(resource.uri, package_dirs) if resource.uri else _text(resource.resource_string)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UrdfWarning)
        try:
            model = load_urdf(source, package_dirs=package_dirs)
        except ProblemError as error:
            raise SpawnRefused(_CODES.RESOURCE_PARSE_ERROR, str(error)) from None
        except (ValueError, OSError) as error:
            raise SpawnRefused(_CODES.RESOURCE_PARSE_ERROR, f"{type(error).__name__}: {error}") from None
    return model, "; ".join(str(each.message) for each in told)


def requested_name(request: Any, model: Model, taken: Collection[str]) -> str:
    """The name that the entity gets."""
    name = request.name or model.name
    is_usable = _NAME.fullmatch(name) is not None and name != "world"
    if not is_usable and (request.name or not request.allow_renaming):
        words = "expected a name of up to 80 letters without spaces, '/' and '+' that is not 'world'"
        raise SpawnRefused(_CODES.NAME_INVALID, f"{words}, got {name!r:.100}")
    name = name if is_usable else "entity"
    if name not in taken:
        return name
    if not request.allow_renaming:
        raise SpawnRefused(
            _CODES.NAME_NOT_UNIQUE, f"there is an entity named {name!r}: set allow_renaming, or give another"
        )
    return next(f"{name}_{k}" for k in range(2, len(taken) + 3) if f"{name}_{k}" not in taken)


def requested_namespace(request: Any, own: str) -> str:
    """The namespace that is asked for, "" for none; own: that of the node."""
    asked = str(request.entity_namespace)
    if not asked:
        return ""
    whole = asked if asked.startswith("/") else f"{own.rstrip('/')}/{asked}"
    try:
        validate_namespace(whole.rstrip("/") or "/")
    except InvalidNamespaceException as error:
        raise SpawnRefused(_CODES.NAMESPACE_INVALID, str(error)) from None
    if not whole.strip("/"):
        raise SpawnRefused(
            _CODES.NAMESPACE_INVALID, "expected a namespace below the root, whose topics are the scene's"
        )
    return asked.rstrip("/")


def requested_pose(given: PoseStamped, sim: Simulation, world_frame: str, frame_prefix: str) -> Origin | None:
    """Where the root is to be in the world; None, which is where it stands, where nothing at all was said."""
    p, o, frame = given.pose.position, given.pose.orientation, given.header.frame_id
    xyz, quat = np.array([p.x, p.y, p.z]), np.array([o.x, o.y, o.z, o.w])
    length = math.hypot(*quat)
    if not (np.isfinite(xyz).all() and abs(length - 1.0) < 1e-3):
        raise SpawnRefused(_CODES.INVALID_POSE, "initial_pose: expected a finite pose with a unit quaternion")
    if not frame and not xyz.any() and not quat[:3].any():
        return None
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = quaternion.to_matrix(quaternion.from_ros(quat / length)), xyz
    if frame not in ("", world_frame):
        X = _frame_pose(sim, frame, frame_prefix) @ X
    x, y, z = X[:3, 3].tolist()
    roll, pitch, yaw = (float(angle) for angle in mat2euler(X[:3, :3], axes="sxyz"))
    return Origin((x, y, z), (roll, pitch, yaw))


def spawnables(sources: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """What can be spawned: uri and description of each; and the sources that are no folders."""
    found = [(each.name, each.document) for each in catalogue() if each.file is not None]
    unknown = []
    for source in sources:
        folder = Path(source.removeprefix("file://"))
        if not folder.is_dir():
            unknown.append(source)
            continue
        found += [(str(file), "") for file in sorted(folder.iterdir()) if file.suffix in _ROBOT_FILES[:2]]
    return found, unknown


def _source(uri: str, package_dirs: Sequence[str]) -> str:
    """A path, or a name of the catalogue."""
    if is_name(uri):
        if uri not in {each.name for each in catalogue() if each.file is not None}:
            raise SpawnRefused(Result.RESULT_NOT_FOUND, f"{uri!r} is neither a file nor a name of get_spawnables")
        return uri
    path = Path(uri)
    if "://" in uri:
        try:
            path = MeshResolver(package_dirs=package_dirs, allow_outside=True).resolve(uri)
        except MeshNotFoundError as error:
            raise SpawnRefused(Result.RESULT_NOT_FOUND, f"{uri}: {error.rule.replace('mesh', 'file')}") from None
    if path.suffix.lower() not in _ROBOT_FILES:
        formats = f"expected a file of {', '.join(_ROBOT_FILES)}"
        raise SpawnRefused(_CODES.UNSUPPORTED_FORMAT, f"{formats}, got {path.name!r:.100}")
    if not path.is_file():
        raise SpawnRefused(Result.RESULT_NOT_FOUND, f"there is no file {path}")
    return str(path)


def _text(text: str) -> str:
    """A text that is one of the formats, as far as its first tag says."""
    tag = _FIRST_TAG.search(text)
    if tag is not None and tag.group(1).lower() in _OTHER_FORMATS:
        raise SpawnRefused(_CODES.UNSUPPORTED_FORMAT, f"expected {', '.join(FORMATS)}, got <{tag.group(1)}>")
    if tag is None or not text.lstrip("\ufeff \t\r\n").startswith("<"):
        raise SpawnRefused(_CODES.RESOURCE_PARSE_ERROR, "resource_string: expected the text of a URDF, got no XML")
    return text


def _frame_pose(sim: Simulation, frame: str, frame_prefix: str) -> np.ndarray:
    """X_WL (4, 4) of a link of the scene by its frame."""
    frames = {frame_name(link, frame_prefix): row for row, link in enumerate(sim.model.link_names)}
    if frame not in frames:
        raise SpawnRefused(_CODES.INVALID_POSE, f"initial_pose: no frame {frame!r:.100} in the scene")
    row, X = link_pose_rows(sim.model, sim.q)[frames[frame]], np.eye(4)
    X[:3, :3], X[:3, 3] = row[:9].reshape(3, 3), row[9:]
    return X
