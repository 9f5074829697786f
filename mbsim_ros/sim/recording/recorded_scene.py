# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Which robot a recording is of, and the ground below it: kept with it, as text where it is saved."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

import numpy as np

from mbsim_ros.contact.terrain import Ground
from mbsim_ros.model.assembly.assemble import make_model
from mbsim_ros.model.model import Model
from mbsim_ros.model.urdf.parser import parse_urdf
from mbsim_ros.model.urdf.writer import to_urdf

FORMAT = 1


class RecordedScene:
    """A robot and its ground. Read from a file it is only taken apart when somebody asks for it."""

    def __init__(
        self,
        model: Model | None = None,
        ground: Ground | None = None,
        *,
        text: str = "",
        grid: np.ndarray | None = None,
    ):
        """Of what is simulated, or from the `text` and `grid` of one that was saved."""
        self._text, self._grid = text, np.zeros((0, 0)) if grid is None else grid
        if model is not None:
            self.model, self.ground = model, ground

    @cached_property
    def model(self) -> Model:
        """The robot; one that was saved is that of its URDF, without the sidecar."""
        about = self._about()
        return make_model(parse_urdf(about["urdf"]), about["base"])

    @cached_property
    def ground(self) -> Ground | None:
        """What it stands on."""
        given = self._about()["ground"]
        if given is None:
            return None
        kind, data, static, dynamic = given
        return Ground(int(kind), np.array(data, dtype=float), np.array(self._grid, dtype=float), static, dynamic)

    @property
    def grid(self) -> np.ndarray:
        """Heights of the ground, (0, 0) where it has none."""
        ground = self.__dict__.get("ground")
        return self._grid if ground is None else ground.grid

    def text(self) -> str:
        """All but the grid, as JSON."""
        if self._text:
            return self._text
        g = self.ground
        ground = None if g is None else [g.kind, g.data.tolist(), g.friction_static, g.friction_dynamic]
        base = "floating" if self.model.is_floating else "fixed"
        return json.dumps({"format": FORMAT, "urdf": to_urdf(self.model.description), "base": base, "ground": ground})

    def _about(self) -> dict[str, Any]:
        try:
            about = json.loads(self._text)
            known = {name: about[name] for name in ("urdf", "base", "ground")}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"recording: it does not say which robot it is of: {error!r}") from None
        return known

    def __reduce__(self) -> tuple[object, ...]:
        return _scene, (self.text(), self.grid)


def _scene(text: str, grid: np.ndarray) -> RecordedScene:
    return RecordedScene(text=text, grid=grid)
