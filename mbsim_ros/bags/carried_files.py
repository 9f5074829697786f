# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Tables and images of terrains inside the setup of a recording, so that it runs where there are no such files.

By the text that names them, `sidecar` or `terrain`, and by the name that it has for them: both may say `hills.png` and
mean another file. Their bytes are base64, as JSON has no other way.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping

Files = Mapping[str, Mapping[str, bytes]]


def as_texts(files: Files) -> dict[str, dict[str, str]]:
    """The files for JSON; sections without any are left out."""
    return {
        section: {name: base64.b64encode(content).decode("ascii") for name, content in named.items()}
        for section, named in files.items()
        if named
    }


def from_texts(texts: object) -> dict[str, dict[str, bytes]]:
    """The files again. Raises ValueError for what `as_texts` has not written."""
    try:
        return {
            str(section): {str(name): base64.b64decode(text, validate=True) for name, text in named.items()}
            for section, named in texts.items()  # type: ignore[attr-defined]
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"simulation_setup: files: expected base64 by names: {error}"[:300]) from None
