# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Triangles onto pixels: nearest first by a depth per pixel, brightness linear between corners."""

from __future__ import annotations

import math

from mbsim_ros.jit import kernel


@kernel
def fill_triangles(points, faces, shades, colours, image, nearness):
    """Draw triangles that are nearer than what a pixel has.

    points (n, 3): column and row [pixels] and 1/distance of the corners, 0 for what is behind the camera; faces (m, 3);
    shades (m, 3): brightness at the corners of each face; colours (m, 3); image (rows, columns, 3);
    nearness (rows, columns): 1/distance of what is drawn.
    """
    rows, columns = image.shape[0], image.shape[1]
    for face in range(faces.shape[0]):
        a, b, c = faces[face, 0], faces[face, 1], faces[face, 2]
        xa, ya, za = points[a, 0], points[a, 1], points[a, 2]
        xb, yb, zb = points[b, 0], points[b, 1], points[b, 2]
        xc, yc, zc = points[c, 0], points[c, 1], points[c, 2]
        area = (xb - xa) * (yc - ya) - (xc - xa) * (yb - ya)
        if za <= 0.0 or zb <= 0.0 or zc <= 0.0 or abs(area) < 1e-9:
            continue
        first_row = max(0, math.ceil(min(ya, min(yb, yc)) - 0.5))
        last_row = min(rows - 1, math.floor(max(ya, max(yb, yc)) - 0.5))
        first_column = max(0, math.ceil(min(xa, min(xb, xc)) - 0.5))
        last_column = min(columns - 1, math.floor(max(xa, max(xb, xc)) - 0.5))
        for row in range(first_row, last_row + 1):
            y = row + 0.5
            for column in range(first_column, last_column + 1):
                x = column + 0.5
                u = ((xb - x) * (yc - y) - (xc - x) * (yb - y)) / area
                v = ((xc - x) * (ya - y) - (xa - x) * (yc - y)) / area
                w = 1.0 - u - v
                if u >= 0.0 and v >= 0.0 and w >= 0.0:
                    near = u * za + v * zb + w * zc  # 1/distance is linear on the screen
                    if near > nearness[row, column]:
                        nearness[row, column] = near
                        shade = u * shades[face, 0] + v * shades[face, 1] + w * shades[face, 2]
                        for i in range(3):
                            image[row, column, i] = shade * colours[face, i]
