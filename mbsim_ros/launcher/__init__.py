"""Runs the package's XML launch files without ROS's own launch packages.

A small, exact subset: what a file means here it also means under ``ros2 launch``.
``plan`` evaluates a file completely (every mistake is reported before a process exists),
``runner`` starts the planned processes and looks after them.
"""
