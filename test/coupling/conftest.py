"""Lets these tests use the robots of the tests of dynamics."""

from __future__ import annotations

import sys
from pathlib import Path

_FOLDER = str(Path(__file__).parent.parent / "dynamics")
if _FOLDER not in sys.path:
    sys.path.append(_FOLDER)
