"""A clutch that closes while the walker strokes: momentum stays, the lost energy is booked."""

from mbsim_ros import Simulation
from mbsim_ros.control.walker_gait import WalkerGait
from mbsim_ros.control.walker_walk import walk

sim = Simulation("urdf/walker.urdf.xacro", coupling="normal")
walk(sim, WalkerGait(sim.model), 2.0, [(0.0, 0.22, 0.0, 0.0)])  # time, forward, turn, rise
closing = sim.couple("hold")  # every brake at once, at full speed
print(f"lost in the brakes: {closing.loss:.3f} J")
sim.run(1.0)
print(f"booked: {sim.ledger().clutch_loss:.3f} J of {sim.ledger().turned_over:.1f} J turned over")
