"""Start and end of every node's process."""

from __future__ import annotations

import signal
from collections.abc import Callable

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node


def run_node(make_node: Callable[[], Node]) -> int:
    """Make a node and spin it until it is done, interrupted or shut down; returns the exit code.

    A node says how it ended in its attribute ``exit_code`` (0 where it has none) and ends itself by
    ``rclpy.try_shutdown()``.
    """
    rclpy.init()
    node: Node | None = None
    try:
        node = make_node()
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not break the clean end
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return getattr(node, "exit_code", 0)
