"""Controllers that are killed while they work, and come back: physics holds the robot, says who is missing, goes on."""

from __future__ import annotations

import random
import time

import numpy as np
from physics_process import ROOT, Client, stamp, start_node, stop
from sensor_msgs.msg import JointState

KILLS = 5
SECOND = 1_000_000_000


def test_a_controller_killed_at_random_moments():
    """kill -9, five times: time stays monotonic, nothing leaves the finite numbers, the arm does not fall."""
    moments = random.Random(3)
    robot = f"robot_file:={ROOT}/urdf/arm.urdf.xacro"
    physics = start_node("physics", robot, "sync:=lockstep", "lockstep_timeout:=0.3", "lockstep_participants:=[hold]")
    controllers = []
    client = Client()
    answers: list[JointState] = []
    client.create_subscription(JointState, "joint_commands", answers.append, 100)
    try:
        for _ in range(KILLS):
            controllers.append(start_node("joint_hold", remap=("__node:=hold",)))
            answered = len(answers)
            client.spin_until(lambda answered=answered: len(answers) > answered + 200, "its answers")
            time.sleep(0.1 * moments.random())
            controllers[-1].kill()
            controllers[-1].communicate()
            last = stamp(client.states[-1])
            client.spin_until(
                lambda last=last: stamp(client.states[-1]) > last + SECOND // 2, "physics to go on without it"
            )
        written = stop(physics)
    finally:
        for process in (physics, *controllers):
            if process.poll() is None:
                process.kill()
                process.communicate()
        client.close()
    assert physics.returncode == 0, written
    assert written.count("no answer from /hold: hold until it is back") >= KILLS, written
    assert written.count("all participants are back") >= KILLS - 1
    stamps = [stamp(state) for state in client.states]
    assert all(np.diff(stamps) >= 0)
    positions = np.array([state.position for state in client.states])
    # each hold begins where the last one had sagged to: a little lower every time, but nothing falls
    assert np.isfinite(positions).all() and np.abs(positions - positions[0]).max() < 0.4
