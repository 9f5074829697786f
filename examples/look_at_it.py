# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""All ways to see a simulation of Python: pictures, a page in a browser, figures, a film, a bag.

`python3 examples/look_at_it.py FOLDER` writes them there; with the word `view` after it a browser shows the run.
"""

import sys
import tempfile
from pathlib import Path

from mbsim_ros import Camera, Recording, Simulation, Viewer, load_world

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
sim = Simulation(load_world("config/biped_and_block.world.yaml"))
sim.picture(save=folder / "start.png")
sim.picture(Camera((1.2, 0.9, 0.5), (0.0, 0.0, 0.2), link="biped/base_link"), (480, 360), save=folder / "onboard.png")
if "view" in sys.argv:
    with Viewer(sim) as viewer:  # until Ctrl-C
        sim.run(3.0)
        viewer.wait()
sim.reset()
recording = sim.run(0.5, record=True)
recording.plot(folder / "run.png")
recording.film(folder / "run.gif", size=(240, 180), speed=0.5)
recording.save(folder / "run.npz")
for note in recording.save_bag(folder / "bag"):  # then: mbsim view, plot, replay FOLDER/bag
    print(note)
print(f"{folder}: {', '.join(sorted(file.name for file in folder.iterdir()))}")
assert (Recording.load(folder / "run.npz").q == recording.q).all()
