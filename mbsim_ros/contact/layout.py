# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Columns of the arrays of contact, one file for all that reads and writes them."""

# Parameters of the law, a row per point or pair.
KN, BN, KT, BT, MU_STATIC, MU_DYNAMIC, STICK_SPEED, FADE_DEPTH = range(8)
LAW, REST_DEPTH, LAW_PARAMETER = 8, 9, 10  # number of the normal's law, depth under the weight, what is the law's own
MAX_LAW_PARAMETERS = 4
PARAMETER_COLUMNS = LAW_PARAMETER + MAX_LAW_PARAMETERS
# Columns of the results, one row per point, as of the last pass. After an inactive pass only DEPTH, CONTACT_RATE, FN
# and SLIPS mean something.
DEPTH, CONTACT_RATE, FN, SLIPS = range(4)  # at the midpoint of the step; SLIPS is 1 where friction clipped the force
FORCE, POSITION, NORMAL, VELOCITY = 4, 7, 10, 13  # force on the point, where it acts, normal, tangential velocity
RESULT_COLUMNS = 16
# Energy moved by a step: the first two are what is stored at its end, the others what flowed during the step.
STORED_NORMAL, STORED_TANGENTIAL, CONTACT_DAMPING, FRICTION, SWITCHING, WORK = range(6)
ENERGIES = 6
