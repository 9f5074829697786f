"""Mono- and multi-articular springs between points of links, in space and on any tree, G 2.2."""

from mbsim_ros.elastic.springs import (
    SpringAction,
    SpringSet,
    attach,
    spring_action,
    spring_energy,
    spring_forces,
    spring_lengths,
    spring_stiffness,
)

__all__ = [
    "SpringAction",
    "SpringSet",
    "attach",
    "spring_action",
    "spring_energy",
    "spring_forces",
    "spring_lengths",
    "spring_stiffness",
]
