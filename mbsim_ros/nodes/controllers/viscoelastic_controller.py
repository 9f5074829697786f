# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Node of the controller that holds a floating base as if springs and dampers did (H).

It answers each state with a wrench on the base, on the topic `wrench`, and commands no joints. In lockstep it is the
participant `wrench`: physics needs `lockstep_participants: [wrench]`, with others or alone.
"""

import sys

from mbsim_ros.control.viscoelastic.controller import ViscoelasticController
from mbsim_ros.nodes.controllers.controller_node import run_controller


def main() -> int:
    """The node's process."""
    return run_controller("viscoelastic_controller", ViscoelasticController)


if __name__ == "__main__":
    sys.exit(main())
