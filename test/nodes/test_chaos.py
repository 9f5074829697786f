"""A run of `mbsim soak --chaos`: processes of the walker are stopped and killed, its bags replay bit for bit."""

from __future__ import annotations

from mbsim_ros.nodes.soak_chaos import chaos_run

SEED = 8  # kills the controller, the recorder and the clutch manager, and stops the controller


def test_every_bag_replays_bit_for_bit(tmp_path):
    result = chaos_run(SEED, tmp_path)
    assert result.problems == [], result
    assert result.bags >= 1 and result.missing == 0
    assert result.states > 50, "it was looked at"
    assert len(result.disturbances) >= 3
