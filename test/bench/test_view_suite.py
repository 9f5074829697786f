# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What the suite `view` measures with: the time that a process has run, all its threads included."""

from __future__ import annotations

import os
import threading
import time

import pytest

from mbsim_ros.bench.suites.view import _cpu_time, _viewer


def test_the_time_of_all_threads_counts():
    done = threading.Event()

    def work():
        start = time.thread_time()
        while time.thread_time() - start < 0.3:
            pass
        done.set()
        held.wait()  # while a thread lives its time is among those of the process

    held = threading.Event()
    other = threading.Thread(target=work)
    before, start = _cpu_time(os.getpid()), time.process_time()
    other.start()
    done.wait()
    used, expected = _cpu_time(os.getpid()) - before, time.process_time() - start
    held.set()
    other.join()
    assert expected >= 0.3
    assert used == pytest.approx(expected, rel=0.2)


def test_a_launch_that_says_nothing_of_a_viewer_is_not_waited_for():
    def lines():
        yield from ("[launch] started physics (pid 12), viewer (pid 34)\n", "[viewer] open http://localhost:8081 in\n")
        raise AssertionError("all is said")

    assert _viewer(lines()) == (34, 8081)
    with pytest.raises(RuntimeError, match="did not start"):
        _viewer(["[viewer] open http://localhost:8081 in a browser\n"])
