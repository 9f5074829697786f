# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The option --network of the verbs that start nodes or talk to them: are they for this host alone?"""

from __future__ import annotations

import argparse
import os
import sys

from mbsim_ros.launcher.discovery import NETWORK, keep_to_this_host
from mbsim_ros.launcher.errors import SubstitutionError


def add_network_option(parser: argparse.ArgumentParser) -> None:
    """Add --network."""
    parser.add_argument(
        "--network", action="store_true", help=f"open the nodes to other hosts, as {NETWORK}=1 does; nobody is kept out"
    )


def open_if_asked(options: argparse.Namespace) -> None:
    """Take --network into the environment, for what this process starts."""
    if options.network:
        os.environ[NETWORK] = "1"


def become_environment_of_node(parser: argparse.ArgumentParser, options: argparse.Namespace | None = None) -> None:
    """Make the environment of this process that of a node, before it becomes one."""
    if options is not None:
        open_if_asked(options)
    try:
        warning = keep_to_this_host(os.environ)
    except SubstitutionError as error:
        parser.error(str(error))
    if warning:
        print(f"{parser.prog}: warning: {warning}", file=sys.stderr)
