# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Drive a robot that runs, such as that of `mbsim launch walker`, from the keyboard: keys become cmd_vel.

  w  up arrow     faster forward        space  stop
  s  down arrow   slower, then back     x      straight on
  a  left arrow   turn to the left      r      stand up
  d  right arrow  turn to the right     f      sit down
  ?  this help                          q      quit (stops first)

A key press changes the velocity by a notch, and the robot keeps it: no key need be held, so it works over ssh.
Only robots of this host are driven, unless --network or ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET asks for more.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from mbsim_ros.cli.parts.network import add_network_option, become_environment_of_node


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim drive``."""
    parser.add_argument("--namespace", default="walker", metavar="NAME", help="namespace of the robot (%(default)s)")
    parser.add_argument("--forward", type=float, metavar="M/S", help="largest velocity (0.45)")
    parser.add_argument("--turn", type=float, metavar="RAD/S", help="largest turn (0.14)")
    parser.add_argument("--ramp", type=float, metavar="SECONDS", help="time from zero to the largest (1)")
    add_network_option(parser)
    options = parser.parse_args(arguments)
    for name in ("forward", "turn", "ramp"):
        value = getattr(options, name)
        if value is not None and not 0.0 < value < float("inf"):
            parser.error(f"--{name}: expected a number above 0, got {value:g}")
    if not sys.stdin.isatty():
        print("mbsim drive: standard input is not a terminal: run it in one, or publish cmd_vel", file=sys.stderr)
        return 2
    become_environment_of_node(parser, options)
    command = [sys.executable, "-m", "mbsim_ros.nodes.drive.teleop", "--ros-args", *_ros_arguments(options)]
    return os.execv(sys.executable, command)  # the node takes this process: the keyboard and Ctrl-C are its own


def _ros_arguments(options: argparse.Namespace) -> list[str]:
    found = ["-r", f"__ns:=/{options.namespace.strip('/')}"] if options.namespace.strip("/") else []
    for name in ("forward", "turn", "ramp"):
        if getattr(options, name) is not None:
            found += ["-p", f"{name}:={getattr(options, name)!r}"]
    return found
