"""``python -m mbsim_ros`` is the ``mbsim`` command."""

import sys

from mbsim_ros.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
