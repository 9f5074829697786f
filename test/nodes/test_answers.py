# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The states of lockstep without any node: who is waited for, who is missing, who is back."""

from __future__ import annotations

from mbsim_ros.nodes.physics.lockstep import ANYBODY, DUPLICATE, FUTURE, NOT_A_PARTICIPANT, STALE, Answers, Phase


def asked(*participants: str, stamp: int = 10) -> Answers:
    answers = Answers(participants, "/robot")
    answers.ask(0)
    answers.ask(stamp)
    return answers


def test_refusals_have_causes():
    answers = asked("gait")
    assert answers.refusal(0, "/robot/gait") == STALE
    assert answers.refusal(20, "/robot/gait") == FUTURE
    assert answers.refusal(10, "/robot/other") == NOT_A_PARTICIPANT
    assert answers.refusal(10, "/robot/gait") == ""
    answers.give("/robot/gait", "command")
    assert answers.refusal(10, "/robot/gait") == DUPLICATE
    assert answers.complete and answers.take() == ["command"]


def test_who_was_missing_has_to_answer_a_state_of_the_time_since():
    answers = asked("gait", "clutches")
    answers.give("/robot/gait", "command")
    assert answers.missing == ("/robot/clutches",)
    answers.stand_by(10)
    assert answers.phase is Phase.STANDING_BY and not answers.all_are_back
    assert not answers.note_return("/robot/clutches", 9)  # an answer to what was before it stood by
    assert answers.note_return("/robot/clutches", 10)
    assert not answers.all_are_back  # who had answered then has to be there now, too
    assert answers.note_return("/robot/gait", 12)
    assert answers.all_are_back
    answers.resume()
    assert answers.phase is Phase.ANSWERING
    answers.stand_by(30)
    assert not answers.all_are_back  # nothing is left of the time before


def test_an_observer_is_not_needed_to_go_on():
    answers = asked("gait", "record")
    answers.give("/robot/record", "nothing", is_empty=True)
    answers.give("/robot/gait", "command")
    answers.ask(20)
    answers.stand_by(20)
    answers.note_return("/robot/gait", 20)
    assert answers.all_are_back


def test_anybody_is_back_with_any_answer():
    answers = asked(stamp=10)
    answers.stand_by(10)
    assert not answers.all_are_back
    answers.note_return("/robot/some_node", 10)
    assert answers.returned == {ANYBODY} and answers.all_are_back
