"""Measuring speed: suites that print tables, hold results against goals and write JSON. Nothing here is a test."""
