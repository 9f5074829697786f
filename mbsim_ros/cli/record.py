# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Record the topics of a running simulation into a bag (rosbag2 format, MCAP), at simulated times. Ctrl-C ends it.

The bag holds states, commands, clock, TF, the robot and the setup of the simulation: `mbsim replay` computes the run
again from it, `ros2 bag play` plays it.
Simulations of this host are recorded, unless --network or ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET asks for more.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from mbsim_ros.bags.bag_writer import COMPRESSIONS
from mbsim_ros.bags.topics import STANDARD, chosen_topic
from mbsim_ros.cli.parts.network import add_network_option, become_environment_of_node


def run(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Run ``mbsim record``."""
    names = " ".join(topic.name for topic in STANDARD)
    parser.add_argument("--out", metavar="DIR", help="folder of the bag, which must not exist (mbsim_<date>)")
    parser.add_argument("--topics", nargs="+", metavar="TOPIC", help=f"instead of: {names}; name:package/msg/Type")
    parser.add_argument("--more-topics", nargs="+", metavar="TOPIC", help="besides those, such as contacts")
    parser.add_argument("--namespace", default="", metavar="NAME", help="namespace of the robot")
    parser.add_argument("--duration", type=float, metavar="SECONDS", help="simulated time to record (until Ctrl-C)")
    parser.add_argument("--compression", choices=COMPRESSIONS, help="of the bag (zstd)")
    parser.add_argument(
        "--lockstep", action="store_true",
        help="let the simulation wait for the recorder: list 'record' in lockstep_participants",
    )  # fmt: skip
    parser.add_argument("--recover", metavar="BAG", help="complete a bag whose recorder was killed, and end")
    add_network_option(parser)
    options = parser.parse_args(arguments)
    if options.recover:
        return _recover(options.recover)
    if options.duration is not None and not options.duration > 0.0:
        parser.error("--duration must be above 0")
    try:
        for text in [*(options.topics or ()), *(options.more_topics or ())]:
            chosen_topic(text)
    except ValueError as error:
        parser.error(str(error))
    become_environment_of_node(parser, options)
    command = [sys.executable, "-m", "mbsim_ros.nodes.recording.node", "--ros-args", *_ros_arguments(options)]
    return os.execv(sys.executable, command)  # the node takes this process: nobody stands between it and Ctrl-C


def _ros_arguments(options: argparse.Namespace) -> list[str]:
    given = {
        "out": options.out and os.path.abspath(options.out),
        "topics": options.topics,
        "more_topics": options.more_topics,
        "duration": options.duration,
        "compression": options.compression,
        "lockstep": options.lockstep or None,
    }
    found = ["-r", f"__ns:=/{options.namespace.strip('/')}"] if options.namespace.strip("/") else []
    for name, value in given.items():
        if value is not None:
            found += ["-p", f"{name}:={json.dumps(value)}"]
    return found


def _recover(folder: str) -> int:
    from mbsim_ros.bags.recovery import recover

    try:
        count = recover(folder)
    except ValueError as error:
        print(f"mbsim record: {error}", file=sys.stderr)
        return 2
    print(f"{folder}: {count} messages")
    return 0
