# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Whether a mass and its inertia can belong to a real body, and what would."""

from __future__ import annotations

import math

import numpy as np
from lxml import etree

from mbsim_ros.model.assembly.solids import solid_moments
from mbsim_ros.model.description import Geometry, Inertial
from mbsim_ros.model.urdf.element_reader import ElementReader

# Files carry few digits: rounding may turn an eigenvalue of zero slightly negative, relative to the largest …
ROUNDING = 1e-6
# … and to the mass: a body thinner than a micrometre is a point.
NOTHING = 1e-12
# Robots in use have wrong products of inertia (Romeo, Tiago). Beyond this share of the largest moment, or with a
# negative moment about an axis of the link, it is not a slip of one number any more.
HOPELESS = 0.5
# No body a robot is made of has its mass this far from its centre [m].
LARGEST_GYRATION_RADIUS = 100.0


def check_inertia(here: ElementReader, tag: etree._Element, inertial: Inertial, shapes: list[Geometry]) -> None:
    """Note an inertia that is not positive semidefinite, breaks the triangle rule or does not fit its mass."""
    place = here.child(tag, "inertia")
    assert place is not None
    moments = np.linalg.eigvalsh(inertial.inertia)  # ascending
    largest = float(np.max(np.abs(moments)))
    shown = "principal moments " + " ".join(f"{moment:.4g}" for moment in moments)
    tolerance = ROUNDING * largest + NOTHING * inertial.mass
    if moments[0] < -tolerance:
        hopeless = np.min(np.diag(inertial.inertia)) < -tolerance or moments[0] < -HOPELESS * largest
        note = here.error if hopeless else here.warn
        note(place, "inertia not positive semidefinite", shown, _suggestion(inertial.mass, shapes))
    elif moments[2] > moments[0] + moments[1] + tolerance:
        here.warn(place, "inertia breaks the triangle rule", shown, _suggestion(inertial.mass, shapes))
    elif largest > 0 and inertial.mass == 0:
        here.warn(place, "inertia without mass", shown, "add the mass, or zero the inertia")
    elif inertial.mass > 0 and largest <= NOTHING * inertial.mass:
        hint = "it is a point mass: nothing resists turning about it"
        here.warn(place, "mass without inertia", f"{inertial.mass:g} kg", hint)
    elif inertial.mass > 0 and largest / inertial.mass > LARGEST_GYRATION_RADIUS**2:
        radius = math.sqrt(largest / inertial.mass)
        value = f"{inertial.mass:g} kg with a radius of gyration of {radius:.4g} m"
        here.warn(place, "inertia too large for its mass", value, _suggestion(inertial.mass, shapes))


def _suggestion(mass: float, shapes: list[Geometry]) -> str:
    """Inertia of the first simple shape of the link filled evenly with its mass."""
    for shape in shapes:
        moments = solid_moments(mass, shape)
        if moments is not None:
            kind = type(shape).__name__.lower()
            return f"a solid {kind} like its shape has " + " ".join(
                f"{name}={value:.4g}" for name, value in zip(("ixx", "iyy", "izz"), moments, strict=True)
            )
    return "no real body has these: check units (kg m²), signs and the order of the components"
