# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""What keys mean: from bytes of a terminal to the velocity that is wanted, and from that to one that changes smoothly.

A terminal tells when a key is pressed, not when it is let go, and over a network it does so in bursts. So a key changes
the wanted velocity by a notch and the robot keeps it, and what is sent follows with a limited acceleration.
"""

from __future__ import annotations

from dataclasses import dataclass, field

FORWARD, BACK, LEFT, RIGHT = "forward", "back", "left", "right"
STRAIGHT, STOP, STAND, SIT, HELP, QUIT = "straight", "stop", "stand", "sit", "help", "quit"
KEYS = {
    "w": FORWARD, "s": BACK, "a": LEFT, "d": RIGHT, "x": STRAIGHT, " ": STOP, "r": STAND, "f": SIT, "?": HELP,
    "h": HELP, "q": QUIT, "\x03": QUIT, "\x04": QUIT,
}  # fmt: skip
ARROWS = {"A": FORWARD, "B": BACK, "C": RIGHT, "D": LEFT}
ESCAPE = "\x1b"
HELP_TEXT = """\
  w  up arrow     faster forward        space  stop
  s  down arrow   slower, then back     x      straight on
  a  left arrow   turn to the left      r      stand up
  d  right arrow  turn to the right     f      sit down
  ?  this help                          q      quit (stops first)"""


def read_keys(text: str) -> tuple[list[str], str]:
    """What the keys in this text mean, and the beginning of an arrow key whose end has not come yet."""
    found, at = [], 0
    while at < len(text):
        if text[at] != ESCAPE:
            meaning = KEYS.get(text[at].lower())
            found += [meaning] if meaning else []
            at += 1
        elif len(text) - at < 3 and text[at + 1 : at + 2] in ("", "[", "O"):
            return found, text[at:]
        elif text[at + 1] in "[O":  # as terminals send arrows, in either of their modes
            end = at + 2
            while end < len(text) and not text[end].isalpha() and text[end] != "~":
                end += 1  # with modifiers, as in ESC [ 1 ; 5 A
            meaning = ARROWS.get(text[end : end + 1])
            found += [meaning] if meaning else []
            at = end + 1
        else:
            at += 1
    return found, ""


@dataclass
class KeyLimits:
    """Largest velocities, what one key press changes, and how fast it comes: SI units, radians."""

    forward: float = 0.45
    turn: float = 0.14
    notches: int = 9  # key presses from zero to the largest
    ramp: float = 1.0  # s from zero to the largest


@dataclass
class KeyDrive:
    """The velocity that keys ask for, and the one that is sent now: both (forward [m/s], turn [rad/s])."""

    limits: KeyLimits = field(default_factory=KeyLimits)
    wanted: tuple[float, float] = (0.0, 0.0)
    sent: tuple[float, float] = (0.0, 0.0)
    rise: float = 0.0  # > 0 stand up, < 0 sit down, with the next velocity

    def press(self, meaning: str) -> None:
        """Take a key's meaning; those that are not about velocities change nothing."""
        forward, turn = self.wanted
        step = 1.0 / self.limits.notches
        if meaning in (FORWARD, BACK):
            way = step if meaning == FORWARD else -step
            self.wanted = _notch(forward, way, self.limits.forward), turn
        elif meaning in (LEFT, RIGHT):
            way = step if meaning == LEFT else -step
            self.wanted = forward, _notch(turn, way, self.limits.turn)
        elif meaning == STRAIGHT:
            self.wanted = forward, 0.0
        elif meaning in (STOP, SIT, STAND):
            self.wanted = 0.0, 0.0
            self.rise = {STOP: 0.0, SIT: -1.0, STAND: 1.0}[meaning]
        if any(self.wanted):
            self.rise = 0.0

    def advance(self, dt: float) -> tuple[float, float, float] | None:
        """Go on by dt [s]: the velocity to send (forward, turn, rise), or None where nothing has changed."""
        most = dt / self.limits.ramp
        now = (
            _towards(self.sent[0], self.wanted[0], most * self.limits.forward),
            _towards(self.sent[1], self.wanted[1], most * self.limits.turn),
        )
        rise = self.rise if now == (0.0, 0.0) else 0.0
        if now == self.sent and not rise:
            return None
        self.sent = now
        if rise:
            self.rise = 0.0
        return (*now, rise)


def _notch(value: float, share: float, largest: float) -> float:
    """One notch on, in whole notches, within the limits."""
    step = abs(share) * largest
    notches = round(value / step) + (1 if share > 0.0 else -1)
    return min(max(notches * step, -largest), largest)


def _towards(value: float, goal: float, most: float) -> float:
    return goal if abs(goal - value) <= most else value + (most if goal > value else -most)
