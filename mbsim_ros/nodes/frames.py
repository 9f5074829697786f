"""Names that ROS sees: TF frames and topics of links. Nothing else makes them."""

from __future__ import annotations

import re


def frame_name(link: str, frame_prefix: str = "") -> str:
    """The TF frame of a link, as robot_state_publisher names it; tf2 knows no leading slash."""
    return f"{frame_prefix}{link}".lstrip("/")


def topic_name(link: str) -> str:
    """A link's name as part of a topic: letters, digits and underscores, the first no digit."""
    name = re.sub(r"\W", "_", link, flags=re.ASCII)
    return f"_{name}" if name[:1].isdigit() or not name else name
