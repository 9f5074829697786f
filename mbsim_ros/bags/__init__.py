"""Recordings: bags in the format of rosbag2 (MCAP), written and read without ROS, and their replay."""
