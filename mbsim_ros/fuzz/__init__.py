"""Hostile input in large numbers: whatever comes, the answer is a documented error or a right result."""
