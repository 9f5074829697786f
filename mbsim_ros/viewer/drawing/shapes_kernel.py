# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Places of shapes and arrows in the world, as the scene wants them: all of them in one compiled call."""

from __future__ import annotations

import math

from mbsim_ros.jit import helper, kernel


@helper
def quaternion_of(xx, xy, xz, yx, yy, yz, zx, zy, zz):
    """Unit quaternion (w, x, y, z) of a rotation, by rows.

    From the columns of 4 q qᵀ, which the entries of R make up: the longest column is the most exact.
    """
    ww, aa, bb, cc = 1.0 + xx + yy + zz, 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz
    if ww >= aa and ww >= bb and ww >= cc:
        w, x, y, z = ww, zy - yz, xz - zx, yx - xy
    elif aa >= bb and aa >= cc:
        w, x, y, z = zy - yz, aa, xy + yx, xz + zx
    elif bb >= cc:
        w, x, y, z = xz - zx, xy + yx, bb, yz + zy
    else:
        w, x, y, z = yx - xy, xz + zx, yz + zy, cc
    scale = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return w * scale, x * scale, y * scale, z * scale


@kernel
def place_shapes_into(rows, links, R_LS, p_LS, positions, wxyzs):
    """Positions (n, 3) and quaternions (n, 4), w first, of shapes: X_WS = X_WL X_LS.

    rows: (links, 12) poses of all links, as `link_pose_rows` has them; links (n,): that of each shape;
    R_LS (n, 3, 3), p_LS (n, 3): where the shapes are on their links.
    """
    for n in range(links.shape[0]):
        row = links[n]
        a, b, c = rows[row, 0], rows[row, 1], rows[row, 2]
        d, e, f = rows[row, 3], rows[row, 4], rows[row, 5]
        g, h, i = rows[row, 6], rows[row, 7], rows[row, 8]
        x, y, z = p_LS[n, 0], p_LS[n, 1], p_LS[n, 2]
        positions[n, 0] = rows[row, 9] + a * x + b * y + c * z
        positions[n, 1] = rows[row, 10] + d * x + e * y + f * z
        positions[n, 2] = rows[row, 11] + g * x + h * y + i * z
        A, B, C = R_LS[n, 0, 0], R_LS[n, 0, 1], R_LS[n, 0, 2]
        D, E, F = R_LS[n, 1, 0], R_LS[n, 1, 1], R_LS[n, 1, 2]
        G, H, K = R_LS[n, 2, 0], R_LS[n, 2, 1], R_LS[n, 2, 2]
        w, x, y, z = quaternion_of(
            a * A + b * D + c * G, a * B + b * E + c * H, a * C + b * F + c * K,
            d * A + e * D + f * G, d * B + e * E + f * H, d * C + e * F + f * K,
            g * A + h * D + i * G, g * B + h * E + i * H, g * C + h * F + i * K,
        )  # fmt: skip
        wxyzs[n, 0], wxyzs[n, 1], wxyzs[n, 2], wxyzs[n, 3] = w, x, y, z


@kernel
def contacts_into(points, tips, radius, positions, ball_scales, wxyzs, arrow_scales):
    """Balls at points (n, 3), and arrows from there to tips (n, 3), with the places that are left over out of sight.

    positions (m, 3) with m >= n, of both; ball_scales (m, 3); quaternions wxyzs (m, 4) and arrow_scales (m, 3) of unit
    arrows along z. What has no size is not seen: places beyond n, and arrows without length.
    """
    for k in range(positions.shape[0]):
        for i in range(3):
            positions[k, i] = points[k, i] if k < points.shape[0] else 0.0
            ball_scales[k, i] = radius if k < points.shape[0] else 0.0
            arrow_scales[k, i] = 0.0
            wxyzs[k, i + 1] = 0.0
        wxyzs[k, 0] = 1.0
        if k < points.shape[0]:
            x, y, z = tips[k, 0] - points[k, 0], tips[k, 1] - points[k, 1], tips[k, 2] - points[k, 2]
            length = math.sqrt(x * x + y * y + z * z)
            if length > 1e-6:
                arrow_scales[k, 0], arrow_scales[k, 1], arrow_scales[k, 2] = radius, radius, length
                # The shortest turn from z to the arrow; half a turn about x where it points straight down.
                w = length + z
                scale = math.sqrt(x * x + y * y + w * w)
                if scale > 1e-6 * length:
                    wxyzs[k, 0], wxyzs[k, 1], wxyzs[k, 2] = w / scale, -y / scale, x / scale
                else:
                    wxyzs[k, 0], wxyzs[k, 1] = 0.0, 1.0
