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
