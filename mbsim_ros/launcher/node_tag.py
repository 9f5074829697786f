# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The ``<node>`` tag."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import yaml

from mbsim_ros.launcher import packages
from mbsim_ros.launcher.context import Context
from mbsim_ros.launcher.errors import SubstitutionError
from mbsim_ros.launcher.functions import evaluate, expand
from mbsim_ros.launcher.node_spec import InlineParameter, NodeSpec
from mbsim_ros.launcher.substitutions import parse_template
from mbsim_ros.launcher.values import ParameterValue, parse_parameter, uniform_list
from mbsim_ros.launcher.xml_source import Element

Result = TypeVar("Result")

OUTPUTS = ("screen", "log", "both")

_NODE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAMESPACE = re.compile(r"/|(/[A-Za-z_][A-Za-z0-9_]*)+")


def plan_node(element: Element, context: Context) -> NodeSpec:
    """Turn a ``<node>`` element into the process it asks for."""
    executable = _executable(element, context)
    name = _optional(element, context, "name")
    if name is not None and not _NODE_NAME.fullmatch(name):
        raise SubstitutionError(f"'{name}' is not a valid node name (letters, digits and _, no digit first)")
    return NodeSpec(
        executable=executable,
        arguments=_split(context, element.attribute("args")),
        ros_arguments=_split(context, element.attribute("ros_args")),
        name=name,
        namespace=join_namespaces(context.namespace, _optional(element, context, "namespace")),
        global_parameters=context.parameters,
        parameters=tuple(_each(element, "param", lambda child: _parameter(child, context))),
        remappings=tuple(_each(element, "remap", lambda child: _remapping(child, context))),
        environment={**context.environment, **_environment(element, context)},
        output=_output(element, context),
        shutdown_on_exit=_shutdown_on_exit(element),
        label=name or Path(executable).name,
    )


def join_namespaces(base: str | None, namespace: str | None) -> str | None:
    """Namespace inside another one; an absolute one stands by itself. The result is absolute."""
    if namespace is None:
        joined = base
    elif not base or namespace.startswith("/"):
        joined = namespace
    else:
        joined = f"{base.rstrip('/')}/{namespace}"
    if joined is None:
        return None
    joined = "/" + joined.strip("/")
    if not _NAMESPACE.fullmatch(joined):
        raise SubstitutionError(f"'{joined}' is not a valid namespace (names of letters, digits and _ between /)")
    return joined


def _each(element: Element, tag: str, read: Callable[[Element], Result]) -> list[Result]:
    """Read every child of a tag; what is wrong with one is reported at its own line."""
    results = []
    for child in element.children:
        if child.tag == tag:
            try:
                results.append(read(child))
            except SubstitutionError as error:
                raise child.error(f"<{tag}>: {error}") from None
    return results


def _executable(element: Element, context: Context) -> str:
    executable = expand(context, element.required("exec"))
    package = _optional(element, context, "pkg")
    if package is not None:
        return str(packages.find_executable(package, executable, context.environment))
    found = shutil.which(executable, path=context.environment.get("PATH", ""))
    if found is not None:
        return os.path.abspath(found)
    raise SubstitutionError(f"there is no executable '{executable}'; a package's executable needs pkg=\"…\"")


def _optional(element: Element, context: Context, attribute: str) -> str | None:
    text = element.attribute(attribute)
    return None if text is None else expand(context, text)


def _split(context: Context, text: str | None) -> tuple[str, ...]:
    """Split arguments at blanks of the literal text; what a substitution gives is never split."""
    if text is None:
        return ()
    arguments: list[str] = []
    current: list[str] = []  # pieces of the argument that is not finished

    def finish() -> None:
        arguments.append("".join(current))
        current.clear()

    for part in parse_template(text) or ("",):
        if not isinstance(part, str):
            current.append(evaluate(context, (part,)))
            continue
        try:
            tokens = shlex.split(part)
        except ValueError as error:
            raise SubstitutionError(f"arguments cannot be split: {error} in: {part}") from None
        if not tokens:
            finish()  # only blanks: they separate; where there is nothing to separate, an empty argument is meant
            continue
        if part[0].isspace() and current:
            finish()
        for token in tokens[:-1]:
            current.append(token)
            finish()
        current.append(tokens[-1])
        if part[-1].isspace():
            finish()
    if current:
        finish()
    return tuple(arguments)


def _parameter(element: Element, context: Context) -> InlineParameter | Path:
    source = _optional(element, context, "from")
    if source is None:
        name = expand(context, element.required("name"))
        return InlineParameter(name, _parameter_value(context, element.required("value"), element.attribute("type")))
    if element.attribute("name") is not None or element.attribute("value") is not None:
        raise element.error('<param> has either name and value or from="file"')
    file = Path(source).absolute()
    if not file.is_file():
        raise element.error(f"there is no parameter file {file}")
    try:
        yaml.safe_load(file.read_text())
    except OSError as error:
        raise element.error(f"the parameter file {file} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError) as error:
        raise element.error(f"the parameter file {file} is not YAML: {error}") from None
    return file


def _parameter_value(context: Context, text: str, type_name: str | None) -> ParameterValue:
    """Value of an inline parameter: YAML before and after the substitutions, in this order, as ros2 launch has it."""
    if type_name is not None:
        return parse_parameter(expand(context, text), type_name)
    value = parse_parameter(text, keep_text=True)
    if isinstance(value, str):
        return _substituted(context, value)
    if isinstance(value, list) and isinstance(value[0], str):
        return uniform_list([_substituted(context, item) for item in value])
    return value


def _substituted(context: Context, text: str) -> ParameterValue:
    """A text without substitutions stays a text; what substitutions give is YAML again."""
    template = parse_template(text)
    replaced = evaluate(context, template)
    return replaced if all(isinstance(part, str) for part in template) else parse_parameter(replaced)


def _remapping(element: Element, context: Context) -> tuple[str, str]:
    return expand(context, element.required("from")), expand(context, element.required("to"))


def _environment(element: Element, context: Context) -> dict[str, str]:
    def read(child: Element) -> tuple[str, str]:
        return expand(context, child.required("name")), expand(context, child.required("value"))

    return dict(_each(element, "env", read))


def _output(element: Element, context: Context) -> str:
    output = _optional(element, context, "output") or "log"
    if output not in OUTPUTS:
        raise SubstitutionError(f"output is one of {', '.join(OUTPUTS)}, not '{output}'")
    return output


def _shutdown_on_exit(element: Element) -> bool:
    on_exit = element.attribute("on_exit")
    if on_exit not in (None, "shutdown"):
        raise element.error(f"on_exit can only be 'shutdown', not '{on_exit}'")
    return on_exit == "shutdown"
