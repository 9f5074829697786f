"""The command line of this checkout, whatever the current folder is and whatever else is installed."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from mbsim_ros.cli.main import main  # noqa: E402

sys.exit(main())
