# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Heights from a picture: a grayscale PNG as a map, white highest, up on the picture is +y."""

from __future__ import annotations

import io
import struct
import warnings
import zlib

import numpy as np

MOST_PIXELS = 2049 * 2049  # a field of so many heights has 34 MB
_WHITE = {"1": 1.0, "L": 255.0, "I": 65535.0, "I;16": 65535.0}  # by Pillow's names; 16 bits were "I" before Pillow 11
_BROKEN = (OSError, SyntaxError, ValueError, EOFError, OverflowError, struct.error, zlib.error)


def heights_of_image(content: bytes) -> np.ndarray:
    """Heights (rows along y, columns along x) from 0, black, to 1, white, of the bytes of a PNG file.

    Row 0 is the lowest of the picture, which has the smallest y. Values are taken as they are, without a gamma: they
    are heights and not brightness. ValueError says what is wrong with it; its size is known before it is unpacked.
    """
    from PIL import Image  # of which matplotlib reads its pictures, too; it takes 50 ms that few need

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about sizes that are refused below
        try:
            image = Image.open(io.BytesIO(content), formats=("PNG",))
        except Image.DecompressionBombError:
            raise ValueError(f"too many pixels, more than {MOST_PIXELS} (2049 x 2049)") from None
        except _BROKEN:
            raise ValueError("not a PNG file") from None
    columns, rows = image.size
    if columns * rows > MOST_PIXELS:
        raise ValueError(f"too many pixels, {columns} x {rows}, at most {MOST_PIXELS} (2049 x 2049)")
    if min(columns, rows) < 2:
        raise ValueError(f"too few pixels, {columns} x {rows}, a field has at least 2 x 2")
    if image.mode not in _WHITE:
        raise ValueError(f"not grayscale, {image.mode}: save it with one channel of 8 or 16 bits")
    try:
        values = np.asarray(image, dtype=float)
    except _BROKEN as error:
        raise ValueError(f"a broken PNG file: {error}") from None
    return values[::-1] / _WHITE[image.mode]


def smoothed(heights: np.ndarray, deviations: tuple[float, float]) -> np.ndarray:
    """Heights averaged with a Gaussian of these standard deviations along y and x, in pixels; edges go on level."""
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(heights, deviations, mode="nearest")  # type: ignore[no-any-return]
