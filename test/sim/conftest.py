"""The robots of this folder are found by its tests and by the programs that they start."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
