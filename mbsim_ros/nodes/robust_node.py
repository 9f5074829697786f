# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""A node that outlives its callbacks: what one of them raises is logged, counted, and told to whoever waits for it.

The node's services and parameters are wrapped where they are made, rclpy's own among them; all other callbacks run in
its FastLoop, which hands on to `outlive` what they raise.
"""

from __future__ import annotations

import inspect
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node

from mbsim_ros.nodes.composition.guest_node import guest_being_made


class RobustNode(Node):
    """See the head of this file."""

    def __init__(self, name: str, **options: Any) -> None:
        self.failures: Counter[str] = Counter()  # what has failed, and how often; here: rclpy's constructor needs it
        guest = guest_being_made()  # of another process, where nodes are composed
        super().__init__(name, **options, **({} if guest is None else guest.node_options))

    def outlive(self, what: str, error: Exception) -> None:
        """Count a failure; the first of each kind is logged, with where it came from."""
        self.failures[what] += 1
        if self.failures[what] == 1:
            trace = "".join(traceback.format_exception(error)).rstrip()
            self.get_logger().error(f"{what} failed; further failures are counted in /diagnostics\n{trace}")

    def create_service(self, srv_type: Any, srv_name: str, callback: Any, **options: Any) -> Any:  # type: ignore[override]
        """As that of rclpy's Node; who calls a service whose callback raises is answered that it failed."""
        what = f"service '{self.resolve_service_name(srv_name)}'"

        def answer(request: Any, response: Any) -> Any:
            try:
                return callback(request, response)
            except Exception as error:
                return self._failed(what, error, request, srv_type.Response())

        async def answer_later(request: Any, response: Any) -> Any:
            try:
                return await callback(request, response)
            except Exception as error:
                return self._failed(what, error, request, srv_type.Response())

        is_async = inspect.iscoroutinefunction(callback)
        return super().create_service(srv_type, srv_name, answer_later if is_async else answer, **options)

    def add_on_set_parameters_callback(self, callback: Callable[..., SetParametersResult]) -> None:
        """As that of rclpy's Node; a change whose callback raises is refused."""

        def accept(parameters: Any) -> SetParametersResult:
            try:
                return callback(parameters)
            except Exception as error:
                self.outlive("a change of parameters", error)
                return SetParametersResult(successful=False, reason=_said(error))

        super().add_on_set_parameters_callback(accept)

    def _failed(self, what: str, error: Exception, request: Any, response: Any) -> Any:
        """The answer that says that it failed, in the words that this kind of service has for it."""
        self.outlive(what, error)
        reason = _said(error)
        if hasattr(response, "success"):  # std_srvs
            response.success, response.message = False, reason
        elif hasattr(response, "results") and hasattr(request, "parameters"):  # SetParameters
            response.results = [SetParametersResult(successful=False, reason=reason) for _ in request.parameters]
        elif hasattr(response, "result") and hasattr(response.result, "successful"):  # SetParametersAtomically
            response.result = SetParametersResult(successful=False, reason=reason)
        elif hasattr(response, "result") and hasattr(response.result, "error_message"):  # simulation_interfaces
            response.result.result = response.result.RESULT_OPERATION_FAILED
            response.result.error_message = reason
        return response


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
