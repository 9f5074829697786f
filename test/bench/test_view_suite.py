"""What the suite `view` measures with: the time that a process has run, all its threads included."""

from __future__ import annotations

import os
import threading
import time

import pytest

from mbsim_ros.bench.view_suite import _cpu_time


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
