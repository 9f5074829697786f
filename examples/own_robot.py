"""Your own URDF: load it, look at it, let it hang for a second. Takes a path; without one, a double pendulum."""

import sys

from mbsim_ros import Simulation, load_urdf

robot = load_urdf(sys.argv[1] if len(sys.argv) > 1 else "urdf/double_pendulum.urdf")
print(robot)
sim = Simulation(robot)
sim.run(1.0)
print(f"after {sim.seconds:g} s: q = {sim.q.round(3).tolist()}")
print(sim.ledger())
