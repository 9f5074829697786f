# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The arrays of a .npz file, read without believing what it says: no more memory is taken than the file is long."""

from __future__ import annotations

import io
import os
import zipfile
from typing import IO

import numpy as np
from numpy.lib import format as npy

MOST_ARRAYS = 1000
KINDS = "fiubU"  # numbers, truth values and texts
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_arrays(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The arrays by name, read-only. Raises ValueError if it is not such a file, OSError if there is none."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            return dict(_arrays(file, size))
        except Exception as error:  # of zipfile, zlib, ast, numpy: whatever they make of bytes that are none
            raise ValueError(str(error) or type(error).__name__) from None


def _arrays(file: IO[bytes], size: int) -> list[tuple[str, np.ndarray]]:
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        if len(entries) > MOST_ARRAYS:
            raise ValueError(f"{len(entries)} arrays, at most {MOST_ARRAYS} are read")
        unpacked = sum(entry.file_size for entry in entries)
        if unpacked > size:  # they are stored as they are
            raise ValueError(f"{size} bytes that unpack to {unpacked}")
        return [(entry.filename.removesuffix(".npy"), _array(archive.read(entry))) for entry in entries]


def _array(data: bytes) -> np.ndarray:
    stream = io.BytesIO(data)
    shape, is_fortran, dtype = HEADERS[npy.read_magic(stream)](stream)
    if dtype.kind not in KINDS or dtype.hasobject:
        raise ValueError(f"an array of {dtype}")
    content = data[stream.tell() :]
    if min(shape, default=1) < 0 or _product(shape) * dtype.itemsize != len(content):
        raise ValueError(f"an array of shape {shape} in {len(content)} bytes")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if is_fortran else "C")


def _product(shape: tuple[int, ...]) -> int:
    count = 1  # of Python's integers, which do not overflow
    for length in shape:
        count *= length
    return count
