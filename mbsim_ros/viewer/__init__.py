"""Robots, ground, contacts and plots in a web browser, by viser. Nothing here knows ROS."""
