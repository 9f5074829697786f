# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Write the reference of the ROS interface, docs/interface.md, from what the running nodes report of themselves.

Every node is started in a process of its own, in a ROS domain of its own unless ROS_DOMAIN_ID says which, and asked for
its topics, services and parameters. What each is for is in mbsim_ros/nodes/interface/texts.py; a name without such a
text, or a text without a name, is an error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from mbsim_ros.cli.parts.network import become_environment_of_node

DOMAIN = "98"  # of nobody: what is started here would be taken for the robots of a simulation that runs


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim interface``."""
    parser.add_argument("--out", type=Path, metavar="FILE", help="Markdown file to write (standard output)")
    options = parser.parse_args(arguments)
    if options.out is not None and not options.out.absolute().parent.is_dir():
        parser.error(f"--out: expected a file in a folder that exists, got {options.out}")
    os.environ.setdefault("ROS_DOMAIN_ID", DOMAIN)
    become_environment_of_node(parser)
    command = [sys.executable, "-m", "mbsim_ros.nodes.interface", *([] if options.out is None else [str(options.out)])]
    return os.execv(sys.executable, command)  # its processes are ended by the one that Ctrl-C reaches
