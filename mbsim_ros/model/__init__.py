"""Robot models: reading URDF and xacro files and the simulation settings beside them."""
