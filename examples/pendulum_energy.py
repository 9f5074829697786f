"""Energy of a swinging double pendulum: the variational integrator beside RK4 and Lie-Euler, at a step of 10 ms."""

from mbsim_ros import Simulation

for integrator in ("lie_variational", "rk4", "lie_euler"):
    sim = Simulation("urdf/double_pendulum.urdf", dt=0.01, integrator=integrator, stops=False)
    sim.reset({"shoulder": 1.5, "elbow": 0.5})
    start = sim.energy().total
    worst = []
    for _ in range(10):
        run = sim.run(10.0, record=("energy",))
        worst.append(abs(run.energy[:, -1] - start).max())  # the last column is the total
    print(f"{integrator:16} largest error [J] per 10 s: " + " ".join(f"{error:.1e}" for error in worst))
