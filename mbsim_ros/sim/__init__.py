"""`Simulation`: a robot with its integrator, contact, couplings, drives, energy ledger and snapshots."""

from mbsim_ros.sim.ledger import Energy, Ledger
from mbsim_ros.sim.recorder import Recorder, Recording
from mbsim_ros.sim.simulation import Simulation
from mbsim_ros.sim.snapshot import Snapshot

__all__ = ["Energy", "Ledger", "Recorder", "Recording", "Simulation", "Snapshot"]
