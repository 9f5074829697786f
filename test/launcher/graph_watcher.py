# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A process that looks at the ROS graph: graph_watcher.py PATIENCE LOOKING NAMESPACE...

Prints the namespaces of all nodes seen until each NAMESPACE was (at most PATIENCE s) and LOOKING s after that.
"""

from __future__ import annotations

import json
import sys
import time

import rclpy

patience, looking, wanted = float(sys.argv[1]), float(sys.argv[2]), set(sys.argv[3:])
rclpy.init()
node = rclpy.create_node("graph_watcher", namespace="/watcher")
seen: set[str] = set()
end = time.monotonic() + patience
while time.monotonic() < end:
    rclpy.spin_once(node, timeout_sec=0.1)
    found = {namespace for _, namespace in node.get_node_names_and_namespaces()} - {node.get_namespace()}
    if wanted and wanted <= seen | found:
        wanted, end = set(), time.monotonic() + looking
    seen |= found
print(json.dumps(sorted(seen)))
node.destroy_node()
rclpy.shutdown()
