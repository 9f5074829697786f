"""ROS 2 nodes: thin adapters between rclpy and the library. Only here is rclpy imported."""
