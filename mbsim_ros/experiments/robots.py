# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The documents' robots and worlds, from the same files that launch files and users have: docs/documents.md."""

from __future__ import annotations

import warnings
from functools import cache

from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.catalogue import ready_robot, shared_file
from mbsim_ros.model.loading import load_urdf
from mbsim_ros.model.model import Model
from mbsim_ros.model.problems import UrdfWarning
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.sim.world import World, load_world


@cache
def document_robot(name: str) -> Model:
    """A robot of the documents with its sidecar."""
    ready = ready_robot(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)  # of inertias that are as printed
        return load_urdf(str(ready.file), sidecar=ready.sidecar)


@cache
def document_world(name: str) -> World:
    """A world of the documents, config/<name>.world.yaml."""
    file = shared_file(f"config/{name}.world.yaml")
    assert file is not None, name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        return load_world(file)


@cache
def variant(name: str, base: str, **arguments: str) -> Model:
    """A robot of the documents with other arguments of its xacro file, and without its sidecar."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        return make_model(parse_urdf(str(ready_robot(name).file), xacro_args=arguments), base)
