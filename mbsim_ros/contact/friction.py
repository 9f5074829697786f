# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Friction of contacts that are there already."""

from __future__ import annotations

import numpy as np

from mbsim_ros.contact.layout import MU_DYNAMIC, MU_STATIC


def set_friction(parameters: np.ndarray, static: float, dynamic: float) -> None:
    """Write coefficients into rows of parameters (n, 14), from the next step on."""
    is_written = parameters.flags.writeable
    parameters.setflags(write=True)  # kernels know some as read-only, and they stay the same arrays
    parameters[:, [MU_STATIC, MU_DYNAMIC]] = static, dynamic
    parameters.setflags(write=is_written)
