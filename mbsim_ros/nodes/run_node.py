# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Start and end of every node's process."""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.logging import get_logger
from rclpy.node import Node

from mbsim_ros.model.problems import show_warnings_plainly
from mbsim_ros.nodes.composition.guest_node import guest_being_made, seat
from mbsim_ros.status import tell_status

BAD_INPUT = 2  # exit code
SIGNAL_DELAY = 0.5  # s


def run_node(make_node: Callable[[], Node], spin: Callable[[Any], None] = rclpy.spin) -> int:
    """Make a node and spin it until it is done, interrupted or shut down; returns the exit code.

    A node that cannot be made for what a user gave it (ValueError) says why in its log, without a traceback.

    A node says how it ended in its attribute ``exit_code`` (0 where it has none) and ends itself by
    ``rclpy.try_shutdown()``.

    In a process of several nodes it makes the node, for the host to give it its turns.
    """
    guest = guest_being_made()
    if guest is not None:
        try:
            return seat(guest, make_node)
        except ValueError as error:
            return _refused(error)
    show_warnings_plainly()
    rclpy.init()
    if "numba" in sys.modules:  # importing it takes a while, and not every node computes
        from mbsim_ros.nodes.compile_signals import end_by_signals_while_compiling

        end_by_signals_while_compiling()
    node: Node | None = None
    try:
        node = make_node()
        tell_status("")  # what was expected to be compiled may have been found compiled
        gc.collect()
        gc.freeze()  # the compiler's hundred thousand objects stay: nothing is gained by looking through them again
        gc.set_threshold(700, 10, 10)  # often and short again, after libexec/node_stub
        spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except RuntimeError:
        # What ctrl-C looks like when it comes while rclpy is in its C++ part; the context follows a moment later.
        end = time.monotonic() + SIGNAL_DELAY
        while rclpy.ok() and time.monotonic() < end:
            time.sleep(0.01)
        if rclpy.ok():
            raise
    except ValueError as error:
        if node is not None:
            raise
        return _refused(error)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not break the clean end
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return getattr(node, "exit_code", 0)


def _refused(error: ValueError) -> int:
    """Say why a node cannot be made; returns the exit code."""
    for line in str(error).splitlines():
        get_logger("mbsim_ros").fatal(line)
    return BAD_INPUT
