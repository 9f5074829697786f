# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""W's figures 4.3 to 4.10, and 4.12 to 4.19, drawn from a run; and the contact modes of the soles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Polygon

from mbsim_ros.contact.modes import ContactMode
from mbsim_ros.dynamics import link_pose
from mbsim_ros.experiments.figures import COLOURS, label, panels
from mbsim_ros.experiments.robots import document_robot
from mbsim_ros.experiments.wendlandt.biped_runs import LEG_JOINTS, BipedRun

TIME = "time [s]"
FIRST_FIGURE = {1: 3, 2: 12}  # number of the first of W's figures of an experiment
MODE_COLOURS = {
    ContactMode.NO_CONTACT: "#ffffff",
    ContactMode.SLIDING: COLOURS[1],
    ContactMode.SLIDING_TO_STICKING: COLOURS[4],
    ContactMode.STICKING: COLOURS[0],
    ContactMode.STICKING_TO_SLIDING: COLOURS[3],
    ContactMode.NEGATIVE_NORMAL_FORCE: COLOURS[6],
}
CORNERS = ("front left", "front right", "back left", "back right")


def standard_figures(run: BipedRun, experiment: int) -> dict[str, Figure]:
    """The figures that both experiments have."""
    return {
        "1-joints": joints_figure(run, experiment),
        "2-body": body_figure(run, experiment),
        "3-wrench": wrench_figure(run, experiment),
        "4-soles": soles_figure(run),
    }


def joints_figure(run: BipedRun, experiment: int) -> Figure:
    """Joint angles and torques: W figures 4.3 and 4.4, or 4.12 and 4.13."""
    number = FIRST_FIGURE[experiment]
    figure, axes = panels(2, 2, title=f"Experiment {experiment}: joints", sharex=True, sharey="row")
    for row, (values, unit) in enumerate(((np.rad2deg(run.angles), "angle [deg]"), (run.torques, "torque [N m]"))):
        for leg, (side, first) in enumerate((("left", 2), ("right", 8))):
            axis = axes[row, leg]
            for k, joint in enumerate(LEG_JOINTS):
                name = f"{first + k} {joint.replace('_', ' ')}"
                axis.plot(run.seconds, values[:, leg, k], color=COLOURS[k], label=name)
            what = "angles" if row == 0 else "torques"
            axis.set_title(f"Figure 4.{number + row}: {what}, {side} leg")
            label(axis, TIME, unit, legend=row == 0, ncols=2, loc="lower right")
            axis.tick_params(labelbottom=True)
    low, high = axes[0, 0].get_ylim()
    axes[0, 0].set_ylim(low - 0.6 * (high - low), high)  # room for the names
    return figure


def body_figure(run: BipedRun, experiment: int) -> Figure:
    """Position, orientation and their errors: W figures 4.5 to 4.8, or 4.14 to 4.17."""
    number = FIRST_FIGURE[experiment] + 2
    title = f"Experiment {experiment}: the central body, in W's axes (X backward, Y to the right)"
    figure, axes = panels(2, 2, title=title, sharex=True)
    vectors = (("X", "Y", "Z"), ("$q_w$", "$q_x$", "$q_y$", "$q_z$"))
    shown = (
        (run.position, vectors[0], "position [m]", "centre of mass"),
        (run.orientation, vectors[1], "quaternion", "orientation"),
        (1e3 * run.position_error, vectors[0], "error [mm]", "position error"),
        (run.orientation_error, vectors[1], "quaternion", "orientation error"),
    )
    for k, (values, names, unit, what) in enumerate(shown):
        axis = axes[k // 2, k % 2]
        _lines(axis, run.seconds, values, names)
        axis.set_title(f"Figure 4.{number + k}: {what}")
        label(axis, TIME, unit, ncols=len(names), loc="center right")
        axis.tick_params(labelbottom=True)
    return figure


def wrench_figure(run: BipedRun, experiment: int) -> Figure:
    """Desired force and torque in axes of the body: W figures 4.9 and 4.10, or 4.18 and 4.19."""
    number = FIRST_FIGURE[experiment] + 6
    figure, axes = panels(1, 2, title=f"Experiment {experiment}: what the controller wants of the legs", size=(15, 4.8))
    for k, (values, unit, what) in enumerate(
        ((run.force, "force [N]", "desired body force"), (run.torque, "torque [N m]", "desired body torque"))
    ):
        _lines(axes[0, k], run.seconds, values, ("X", "Y", "Z"))
        axes[0, k].set_title(f"Figure 4.{number + k}: {what}")
        label(axes[0, k], TIME, unit, ncols=3, loc="upper right" if k == 0 else "best")
    return figure


def soles_figure(run: BipedRun) -> Figure:
    """W's contact modes of the corners of the soles, and their heights, in the first second."""
    figure, axes = panels(2, 2, title="The soles", size=(15, 7.2), sharex=True, sharey="row")
    seconds = run.contact_seconds
    for foot, side in enumerate(("left", "right")):
        heights, modes = axes[0, foot], axes[1, foot]
        for corner, name in enumerate(CORNERS):
            style = "-" if corner < 2 else "--"
            heights.plot(seconds, -1e3 * run.depths[:, foot, corner], style, color=COLOURS[corner], label=name)
        heights.set_title(f"{side} foot: height of the corners")
        label(heights, TIME, "height [mm]", legend=foot == 1, loc="upper right", ncols=2)
        _draw_modes(modes, seconds, run.modes[:, foot])
        modes.set_title(f"{side} foot: mode of the corners")
        label(modes, TIME, "", legend=False)
        heights.tick_params(labelbottom=True)
    met = [mode for mode in MODE_COLOURS if (run.modes == mode).any()]
    patches = [Patch(facecolor=MODE_COLOURS[mode], edgecolor="#999999", label=mode.words) for mode in met]
    figure.legend(handles=patches, loc="outside lower center", ncols=len(patches), frameon=False)
    return figure


def side_view(axis: Axes, run: BipedRun, seconds: float) -> None:
    """Draw the robot and the block as seen from its right side, at the control instant next to a time [s]."""
    row = int(np.abs(run.seconds - seconds).argmin())
    q, model = run.q[row], run.model

    def place(link: str, *point: float) -> np.ndarray:
        pose = link_pose(model, q, link)
        return np.asarray(pose[:3, :3] @ np.array(point) + pose[:3, 3])[[0, 2]]

    def box(link: str, x: Sequence[float], z: Sequence[float], colour: str) -> None:
        corners = [place(link, x[i], 0.0, z[j]) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
        axis.add_patch(Polygon(corners, facecolor=colour, edgecolor="#333333", alpha=0.8))

    box("base_link", (-0.125, 0.125), (-0.3, 0.3), "#cfe0ee")
    for side, colour in (("left", "#999999"), ("right", COLOURS[0])):
        knots = np.array([place(f"{side}_{part}", 0, 0, 0) for part in ("thigh", "shin", "foot")])
        axis.plot(knots[:, 0], knots[:, 1], "-o", color=colour, linewidth=4)
        box(f"{side}_foot", (-0.039, 0.175), (-0.06, -0.045), colour)
    if run.block_q.shape[1]:
        model, q = document_robot("block"), run.block_q[row]
        box("block", (-0.03, 0.03), (-0.1, 0.1), COLOURS[1])
    axis.axhline(0.0, color="#333333", linewidth=1)
    axis.set(xlim=(-0.75, 0.45), ylim=(-0.06, 1.5), aspect="equal", title=f"{run.seconds[row]:.2f} s")
    label(axis, "forward [m]", "height [m]", legend=False)


def block_figure(run: BipedRun) -> Figure:
    """The robot at moments of experiment 2, that of W's figure 4.11 among them."""
    figure, axes = panels(
        1, 4, title="Experiment 2: the block hits the back (Figure 4.11 is at 0.32 s)", size=(15, 5.4)
    )
    for axis, seconds in zip(axes[0], (0.0, 0.08, 0.32, 3.0), strict=True):
        side_view(axis, run, seconds)
    return figure


def impact_figure(run: BipedRun, until: float = 0.5) -> Figure:
    """Force of the block on the body, and how the body gives way."""
    figure, axes = panels(1, 2, title="Experiment 2: the impact of the block", size=(15, 4.8))
    first = run.contact_seconds[np.flatnonzero(run.block_force.any(axis=1))[0]]
    shown = np.abs(run.contact_seconds - first - 0.005) <= 0.01
    _lines(axes[0, 0], 1e3 * run.contact_seconds[shown], run.block_force[shown], ("X", "Y", "Z"))
    axes[0, 0].set_title("force of the block on the body")
    label(axes[0, 0], "time [ms]", "force [N]", loc="lower right")
    rows = run.seconds <= until
    _lines(axes[0, 1], run.seconds[rows], 1e3 * (run.position[rows] - run.position[0]), ("X", "Y", "Z"))
    axes[0, 1].set_title("way of the body's centre of mass")
    label(axes[0, 1], TIME, "way [mm]")
    return figure


def _lines(axis: Axes, seconds: np.ndarray, values: np.ndarray, names: Sequence[str]) -> None:
    for k, name in enumerate(names):
        axis.plot(seconds, values[:, k], color=COLOURS[k], label=name)


def _draw_modes(axis: Axes, seconds: np.ndarray, modes: np.ndarray) -> None:
    """One bar per corner, coloured by mode."""
    for corner in range(len(CORNERS)):
        row = modes[:, corner]
        starts = np.flatnonzero(np.r_[True, row[1:] != row[:-1]])
        ends = np.r_[seconds[starts[1:]], seconds[-1]]
        spans = [(seconds[a], end - seconds[a]) for a, end in zip(starts, ends, strict=True)]
        colours = [MODE_COLOURS[ContactMode(int(row[a]))] for a in starts]
        axis.broken_barh(spans, (corner - 0.35, 0.7), facecolors=colours)
    axis.set_yticks(range(len(CORNERS)), CORNERS)
    axis.set_ylim(len(CORNERS) - 0.5, -0.5)
