# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Who can reach the nodes that are started here: this host alone, unless the user asks for more.

ROS 2's own range LOCALHOST is not enough: with it Fast DDS still listens on every address of the host, and whoever
names this host in ROS_STATIC_PEERS gets in. A profile of Fast DDS that has no other address than 127.0.0.1 keeps them
out. Processes of this host that know nothing of the profile find the nodes all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from mbsim_ros.launcher.errors import SubstitutionError
from mbsim_ros.launcher.packages import share_directory

NETWORK = "MBSIM_NETWORK"  # 1 opens nodes to other hosts, as --network does
RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
RANGES_TO_KEEP = ("SUBNET", "SYSTEM_DEFAULT", "OFF")  # who sets one of these means it
OLD_RANGE = "ROS_LOCALHOST_ONLY"  # of Humble; where it is 1 it beats RANGE, and the sockets are open again
PEERS = "ROS_STATIC_PEERS"
PROFILE, OLD_PROFILE = "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"  # of Fast DDS 3, of 2
SERVER = "ROS_DISCOVERY_SERVER"
TRANSPORTS = "FASTDDS_BUILTIN_TRANSPORTS"
# Fast DDS would also read a profile that happens to lie in the folder where the user stands.
NO_PROFILE_OF_FOLDER = "SKIP_DEFAULT_XML_FILE"
RMW = "RMW_IMPLEMENTATION"
FIRST_WITH_FAST_DDS_3 = 9  # of rmw_fastrtps: Jazzy has 8, Kilted 9


@dataclass(frozen=True)
class Discovery:
    """The environment of nodes, who can reach them with it, and what the user should know of that ("" for nothing)."""

    environment: dict[str, str]
    reach: str
    warning: str = ""


def discovery(environment: Mapping[str, str]) -> Discovery:
    """The environment for nodes that a user with this environment starts. What the user has set about DDS stands."""
    given = _as_the_user_had_it(environment)
    if given.get(NETWORK, "").lower() in ("1", "true"):
        return _opened(given)
    if not given.get(RMW, "rmw_fastrtps").startswith("rmw_fastrtps"):
        return _of_another_rmw(given)
    own = [name for name in (PROFILE, OLD_PROFILE, SERVER) if given.get(name)]
    if own:
        return _of_the_user(given, own)
    if given.get(RANGE) in RANGES_TO_KEEP:
        return Discovery(given, f"open as {RANGE}={given[RANGE]} has it")
    return _closed(given)


def keep_to_this_host(environment: MutableMapping[str, str]) -> str:
    """Change this process's environment into that of a node; returns what the user should know, "" for nothing."""
    found = discovery(environment)
    for name in set(environment) - set(found.environment):
        del environment[name]
    environment.update(found.environment)
    return found.warning


def _as_the_user_had_it(environment: Mapping[str, str]) -> dict[str, str]:
    """Without what a process that started this one has set here, so that `mbsim` may start `mbsim`."""
    ours = {str(profile) for profile in _profiles()}
    if not any(environment.get(name) in ours for name in (PROFILE, OLD_PROFILE)):
        return dict(environment)
    return {name: value for name, value in environment.items() if name != RANGE and value not in ours}


def _closed(given: Mapping[str, str]) -> Discovery:
    usual, by_udp = _profiles()
    profile = by_udp if given.get(TRANSPORTS) == "UDPv4" else usual
    # SUBNET leaves the transports to the profile; with LOCALHOST the RMW would add one on all addresses to it.
    changed = {**given, RANGE: "SUBNET", NO_PROFILE_OF_FOLDER: "1", _profile_variable(): str(profile)}
    peers = changed.pop(PEERS, "")
    changed.pop(OLD_RANGE, None)
    warning = f"{PEERS}={peers} is left out: nodes are for this host alone; --network opens them" if peers else ""
    return Discovery(changed, "for this host alone", warning)


def _opened(given: Mapping[str, str]) -> Discovery:
    changed = {name: value for name, value in given.items() if name != OLD_RANGE}
    if changed.get(RANGE) not in RANGES_TO_KEEP:
        changed[RANGE] = "SUBNET"
    return Discovery(changed, f"open to the network ({RANGE}={changed[RANGE]})")


def _of_the_user(given: dict[str, str], own: list[str]) -> Discovery:
    stated = ", ".join(f"{name}={given[name]}" for name in own)
    return Discovery(given, f"open as {stated} has it", f"{stated} decides who can reach the nodes, not mbsim")


def _of_another_rmw(given: Mapping[str, str]) -> Discovery:
    changed = {RANGE: "LOCALHOST", **given}
    meaning = f"{given[RMW]} decides what {RANGE}={changed[RANGE]} means; other hosts may get in"
    return Discovery(changed, f"open as {given[RMW]} has it with {RANGE}={changed[RANGE]}", meaning)


def _profiles() -> tuple[Path, Path]:
    """The profiles for this host: the usual one, and the one by UDP alone."""
    folder = share_directory("mbsim_ros") / "config"
    return folder / "this_host.xml", folder / "this_host_udp.xml"


def _profile_variable() -> str:
    """What Fast DDS calls its profile here: Jazzy knows the old name alone, Kilted warns of it in every node."""
    try:
        manifest = (share_directory("rmw_fastrtps_shared_cpp") / "package.xml").read_text()
        version = manifest.partition("<version>")[2].partition(".")[0]
        return OLD_PROFILE if int(version) < FIRST_WITH_FAST_DDS_3 else PROFILE
    except (SubstitutionError, OSError, ValueError):
        return PROFILE
