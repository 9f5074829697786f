"""The reference of the ROS interface, written from what the running nodes report: `mbsim interface`."""
