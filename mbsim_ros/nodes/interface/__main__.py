# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The process of ``mbsim interface``: starts every node, asks it, and writes the page."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from mbsim_ros.nodes.interface.checking import InterfaceMismatch
from mbsim_ros.nodes.interface.page import current_page


def main() -> int:
    """Argument: the file to write, none for standard output."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # its processes end with it
    try:
        text = current_page()
    except (InterfaceMismatch, RuntimeError) as error:
        print(f"mbsim interface: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text)
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
