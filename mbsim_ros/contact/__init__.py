"""Contact of points with the ground and with other bodies: a compliant law and the six modes of W section 5.2."""
