# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The substitutions a launch file can use, one function each: ``$(name …)``."""

from __future__ import annotations

import math
import os
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from mbsim_ros.launcher import packages
from mbsim_ros.launcher.context import Context
from mbsim_ros.launcher.errors import SubstitutionError
from mbsim_ros.launcher.substitutions import Template, parse_template
from mbsim_ros.launcher.values import parse_bool


def expand(context: Context, text: str) -> str:
    """Replace every substitution in the text of an attribute that has been checked."""
    return evaluate(context, parse_template(text))


def evaluate(context: Context, template: Template) -> str:
    """Text of a template that has been checked."""
    return "".join(
        part if isinstance(part, str) else FUNCTIONS[part.name].evaluate(context, part.arguments) for part in template
    )


def check_template(template: Template) -> None:
    """Refuse substitutions that do not exist or have the wrong number of arguments."""
    for part in template:
        if isinstance(part, str):
            continue
        function = FUNCTIONS.get(part.name)
        if function is None:
            known = ", ".join(sorted(FUNCTIONS))
            raise SubstitutionError(f"there is no substitution $({part.name} …) (there are: {known})")
        if not function.least <= len(part.arguments) <= function.most:
            raise SubstitutionError(f"$({part.name} …) takes {function.usage}, {len(part.arguments)} given")
        for argument in part.arguments:
            check_template(argument)
            if not argument and part.name in ("equals", "not-equals"):
                # ros2 launch compares with the text [] there, so that nothing ever equals ''.
                raise SubstitutionError(f"$({part.name} …) cannot compare with '': ros2 launch gets that wrong")


def _var(context: Context, arguments: tuple[Template, ...]) -> str:
    name = evaluate(context, arguments[0])
    context.variables_read.add(name)
    if name in context.variables:
        return context.variables[name]
    if len(arguments) == 2:
        return evaluate(context, arguments[1])
    raise SubstitutionError(f"there is no variable '{name}' here; declare it with <arg> or <let> before it is used")


def _env(context: Context, arguments: tuple[Template, ...]) -> str:
    name = evaluate(context, arguments[0])
    if name in context.environment:
        return context.environment[name]
    if len(arguments) == 2:
        return evaluate(context, arguments[1])
    raise SubstitutionError(f"the environment variable '{name}' is not set; give a default: $(env {name} value)")


def _find_pkg_share(context: Context, arguments: tuple[Template, ...]) -> str:
    return str(packages.share_directory(evaluate(context, arguments[0]), context.environment))


def _dirname(context: Context, arguments: tuple[Template, ...]) -> str:
    if context.file in context.files_after_other_folder:
        raise SubstitutionError(
            "$(dirname) after an include from another folder is not the same in all versions of ROS 2; "
            'write <let name="here" value="$(dirname)"/> before the include and use $(var here)'
        )
    return str(context.directory)


def _command(context: Context, arguments: tuple[Template, ...]) -> str:
    command = evaluate(context, arguments[0])
    on_stderr = evaluate(context, arguments[1]) if len(arguments) == 2 else "fail"
    if on_stderr not in ("fail", "ignore", "warn", "capture"):
        raise SubstitutionError(f"$(command …) takes fail, ignore, warn or capture for stderr, not '{on_stderr}'")
    stderr = subprocess.STDOUT if on_stderr == "capture" else subprocess.PIPE
    try:
        done = subprocess.run(
            shlex.split(command), stdout=subprocess.PIPE, stderr=stderr, text=True, stdin=subprocess.DEVNULL,
            env=_command_environment(context),
        )  # fmt: skip
    except (OSError, ValueError, IndexError) as error:
        raise SubstitutionError(f"$(command {command}) cannot be run: {error}") from None
    said = (done.stderr or done.stdout or "").strip() if done.returncode else (done.stderr or "").strip()
    if done.returncode != 0:
        raise SubstitutionError(f"$(command {command}) ended with code {done.returncode}: {said[-500:]}")
    if said and on_stderr == "fail":
        raise SubstitutionError(f"$(command {command}) wrote to stderr: {said[-500:]}")
    if said and on_stderr == "warn":
        context.warnings.append(f"$(command {command}) wrote to stderr: {said[-500:]}")
    return done.stdout


def _command_environment(context: Context) -> dict[str, str]:
    # As under ros2 launch, a command sees the launcher's environment with the set_env changes.
    return {**os.environ, **context.environment}


def _equals(context: Context, arguments: tuple[Template, ...]) -> str:
    left, right = (evaluate(context, argument) for argument in arguments)
    return _text(_are_equal(left, right))


def _not_equals(context: Context, arguments: tuple[Template, ...]) -> str:
    left, right = (evaluate(context, argument) for argument in arguments)
    return _text(not _are_equal(left, right))


def _not(context: Context, arguments: tuple[Template, ...]) -> str:
    return _text(not parse_bool(evaluate(context, arguments[0])))


def _are_equal(left: str, right: str) -> bool:
    """Booleans by meaning, numbers by closeness, anything else by its text."""
    booleans = {"true": True, "1": True, "false": False, "0": False}
    if left.lower() in booleans and right.lower() in booleans:
        return booleans[left.lower()] == booleans[right.lower()]
    try:
        return math.isclose(float(left), float(right))
    except ValueError:
        return left == right


def _text(value: bool) -> str:
    return "true" if value else "false"


@dataclass(frozen=True)
class _Function:
    evaluate: Callable[[Context, tuple[Template, ...]], str]
    least: int
    most: int
    usage: str


FUNCTIONS = {
    "var": _Function(_var, 1, 2, "a name and an optional default"),
    "env": _Function(_env, 1, 2, "a name and an optional default"),
    "find-pkg-share": _Function(_find_pkg_share, 1, 1, "the name of a package"),
    "dirname": _Function(_dirname, 0, 0, "no argument"),
    "command": _Function(_command, 1, 2, "a quoted command and optionally fail, ignore, warn or capture"),
    "equals": _Function(_equals, 2, 2, "two arguments"),
    "not-equals": _Function(_not_equals, 2, 2, "two arguments"),
    "not": _Function(_not, 1, 1, "one argument"),
}
