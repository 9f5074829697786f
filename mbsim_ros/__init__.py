"""Structure-preserving simulation of URDF robots, as a library and as ROS 2 nodes."""

__version__ = "0.1.0"
