"""Figures of runs: joints, torques, footfalls and energy, as PNG or as a page for a browser."""
