"""The ``mbsim`` command line: one module per verb."""
