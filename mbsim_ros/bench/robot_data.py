# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Robots that nobody here has made, where the packages that hold them are installed: example-robot-data and others."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from mbsim_ros.model.catalogue import FILES, robots_folder

# Thirty of them, of all kinds: legged robots, humanoids, arms, hands, flying and mobile ones.
ROBOTS = {name: file for name, file in FILES.items() if name != "icub"}
# More of that package: some without collision shapes, some that cannot stand, some that fly.
MORE_ROBOTS = {
    "alex_sake": "alex_description/urdf/alex_sake_hands.urdf",
    "alexander": "alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf",
    "anymal_c": "anymal_c_simple_description/urdf/anymal.urdf",
    "double_pendulum": "double_pendulum_description/urdf/double_pendulum.urdf",
    "finger": "finger_edu_description/robots/finger_edu.urdf",
    "hector": "hector_description/robots/quadrotor_base.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "iris": "iris_description/robots/iris.urdf",
    "quadruped": "quadruped_description/urdf/quadruped.urdf",
    "romeo": "romeo_description/urdf/romeo_small.urdf",
    "solo8": "solo_description/robots/solo.urdf",
    "talos_arm": "talos_data/robots/talos_left_arm.urdf",
    "tiago_dual": "tiago_description/robots/tiago_dual.urdf",
    "tiago_pro": "tiago_pro_description/robots/tiago_pro.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
}
# Those of other packages of the index: name → (package to install, its folder, file in it).
OTHER_ROBOTS = {
    "upkie": ("upkie_description", "upkie_description", "urdf/upkie.urdf"),
    "icub_2_7": ("icub-models", "share/iCub", "robots/iCubGazeboV2_7/model.urdf"),
    "icub_genova": ("icub-models", "share/iCub", "robots/iCubGenova03/model.urdf"),
    "icub_hand": ("icub-models", "share/iCub", "robots/left_hand_mk3/model.urdf"),
    "icub_wrist": ("icub-models", "share/iCub", "robots/left_wrist_mk2/model.urdf"),
    "px100": ("rtb-data", "rtbdata", "xacro/trossen_descriptions/urdf/px100.urdf.xacro"),
    "rx200": ("rtb-data", "rtbdata", "xacro/trossen_descriptions/urdf/rx200.urdf.xacro"),
    "vx300s": ("rtb-data", "rtbdata", "xacro/trossen_descriptions/urdf/vx300s.urdf.xacro"),
    "wx250s": ("rtb-data", "rtbdata", "xacro/trossen_descriptions/urdf/wx250s.urdf.xacro"),
}


def find_robot(name: str) -> Path | None:
    """File of one of ROBOTS, MORE_ROBOTS or OTHER_ROBOTS, or None where its package is not installed."""
    if name in OTHER_ROBOTS:
        _, folder, file = OTHER_ROBOTS[name]
        spec = None if "/" in folder else importlib.util.find_spec(folder)
        places = [Path(sys.prefix) / folder] if spec is None else map(Path, spec.submodule_search_locations or ())
        return next((place / file for place in places if (place / file).is_file()), None)
    folder_of_all = robots_folder()
    return None if folder_of_all is None else folder_of_all / {**ROBOTS, **MORE_ROBOTS}[name]


def package_dirs(path: Path) -> list[Path]:
    """Where the packages are that the meshes of such a robot are in: the folders above it."""
    return list(path.parents)[1:5]
