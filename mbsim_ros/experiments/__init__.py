"""The documents' experiments, one module each, named as `mbsim experiment` names them with _ for -."""
