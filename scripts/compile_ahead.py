# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Compiles the kernels of `./mbsim launch …` while set_up.py installs what else it takes; ends with who started it."""

import os
import sys
import threading
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)


def end_with_parent() -> None:
    """Whoever started this holds the other end of its input, until the end, however that comes."""
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    from mbsim_ros.cli.parts.compile_ahead import compile_for_launch

    compile_for_launch(sys.argv[1:])
