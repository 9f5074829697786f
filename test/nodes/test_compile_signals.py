# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Signals that come while a node compiles: it ends at once, and afterwards signals are what they were before."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

# A node whose kernel is compiled when it is made; `moment` is code that runs at some moment of that.
NODE = """
import ctypes, os, signal, sys, time
import numba, rclpy
from numba.extending import overload
from rclpy.node import Node
from mbsim_ros.nodes.run_node import run_node

def signal_myself():
    os.kill(os.getpid(), signal.{name})

@ctypes.CFUNCTYPE(None)
def in_a_callback():
    signal_myself()
    for _ in range(1000):  # here the exception of a handler is raised, and lost
        pass

def probe():
    pass

@overload(probe)
def typed_probe():
    {while_compiling}
    print("the compiler goes on", flush=True)
    return lambda: 1

@numba.njit
def kernel():
    return probe()

def make_node():
    node = Node("compiles")
    {before}
    kernel()
    print("compiled", flush=True)
    {after}
    return node

def spin(node):
    while rclpy.ok():
        time.sleep(0.01)

sys.exit(run_node(make_node, spin))
"""


def run(name: str, **moments: str) -> tuple[int, str, str]:
    script = NODE.format(name=name, **{"before": "pass", "while_compiling": "pass", "after": "pass", **moments})
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_it_while_it_compiles(name):
    assert run(name, while_compiling="signal_myself()") == (-getattr(signal, name), "", "")
    assert run(name, while_compiling="in_a_callback()") == (-getattr(signal, name), "", "")


def test_one_that_was_lost_in_a_callback_ends_it_before_it_compiles():
    code, written, errors = run("SIGINT", before="in_a_callback()")
    assert (code, written) == (0, ""), errors


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_afterwards_it_ends_orderly(name):
    code, written, errors = run(name, after="signal_myself()")
    assert (code, written.splitlines()) == (0, ["the compiler goes on", "compiled"])
    assert "Traceback" not in errors
