# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The loop of a node that answers messages as fast as rclpy can: direct takes for hot topics, an executor for the rest.

An rclpy executor collects every entity of the node and builds a new wait set for each single message. Here one small
wait set with nothing but the hot subscriptions lives as long as the loop, and their messages are taken without tasks
and coroutines. Waiting costs 100 µs of CPU even where a message is there already, a take that finds nothing 1 µs: so
the loop takes first, in lockstep looks again for a moment while others may run, and waits after that. It looks only
where everybody in the round has a core: whoever looks on the core that another needs makes the round longer. All other
work of the node is looked at when the hot topics are silent, and at least every ``REST_PERIOD`` when they are not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, TypeAlias

from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor, TimeoutException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerGuardCondition
from rclpy.subscription import Subscription
from rclpy.waitable import NumberOfEntities

from mbsim_ros.nodes.transport.local_topics import LOCAL_TOPICS

REST_PERIOD = 0.05  # s of wall time: the longest that services, parameters and timers wait while hot messages pour in
HOT_PATIENCE = 0.02  # s of wall time to wait for hot messages alone before waiting for everything, which costs 1 ms
SLACK_PERIOD = 0.01  # s of wall time between two looks at slack topics while hot messages pour in
LOOKING = 300e-6  # s of wall time to look for the next hot message before waiting for it, where answers come that fast

_NANOSECONDS = 1_000_000_000

# Quoted: up to rclpy 7 these classes cannot be subscripted at run time.
Handler: TypeAlias = "tuple[Subscription[Any], Callable[[Any], None]]"
OnFailure: TypeAlias = Callable[[str, Exception], None]


class _RestExecutor(SingleThreadedExecutor):
    """Serves what a node has, except its hot subscriptions."""

    def __init__(self, node: Node) -> None:
        super().__init__(context=node.context)
        self.hot: frozenset[Subscription[Any]] = frozenset()

    def can_execute(self, entity: Any) -> bool:
        """Whether the executor may run the entity now."""
        return entity not in self.hot and super().can_execute(entity)

    def serve_ready(self, on_failure: OnFailure) -> bool:
        """Run the callback of each entity that is ready now, without waiting; returns whether there was any."""
        served = False
        while True:
            try:
                task, entity, _ = self.wait_for_ready_callbacks(timeout_sec=0.0)
            except TimeoutException:
                return served
            served = True
            task()
            error = task.exception()
            if error is not None:
                _give_back(entity)
                on_failure(_name_of(entity), error)


class FastLoop:
    """Waits for a node's messages and serves them, the hot ones directly.

    ``handlers`` are pairs of a subscription of ``node`` and the function that gets its messages; their order is the
    order in which topics are served when several have messages. The callbacks that the subscriptions were created with
    are never called. ``slack`` are more of them, whose messages may wait for ``SLACK_PERIOD``: every subscription makes
    a wait longer. ``processes`` says how many processes work in turns with this one, itself included. The
    loop takes the place of an executor: do not spin the node elsewhere, and keep the subscriptions until it is closed.
    ``on_failure`` gets what a callback, a handler or the reading of a message raises, with its name; without one it is
    raised. Not for use by several threads at a time.
    """

    def __init__(
        self, node: Node, handlers: Sequence[Handler], slack: Sequence[Handler] = (),
        processes: Callable[[], int] = lambda: 2, on_failure: OnFailure | None = None,
    ) -> None:  # fmt: skip
        self._node = node
        self._on_failure = on_failure
        self._processes = processes
        self._have_cores = True
        self._in_use = ExitStack()
        self._hot_in_use = ExitStack()
        self._executor = _RestExecutor(node)
        self._executor.add_node(node)
        self._interrupt = SignalHandlerGuardCondition(node.context)
        self._topics: list[Subscription[Any]] = []
        self._slack_topics: list[Subscription[Any]] = []
        self.listen_to(handlers, slack)
        self._rest_due = self._slack_due = 0.0
        self._answers_come_fast = False
        self._is_closed = False

    def listen_to(self, handlers: Sequence[Handler], slack: Sequence[Handler] | None = None) -> None:
        """From now on these are the hot subscriptions and their handlers; not to be called by one of them.

        slack: those that may wait; None leaves them as they are. A subscription that is none any longer may be
        destroyed afterwards.
        """
        before = {*self._topics, *self._slack_topics}
        if slack is not None:
            with self._in_use:  # gives back the old ones, after the new ones have been taken
                held = ExitStack()
                self._slack_handles = _handles([subscription for subscription, _ in slack], held)
            self._in_use = held
            self._slack = self._takers(slack)
            self._slack_topics = [subscription for subscription, _ in slack]
        with self._hot_in_use:  # gives back the old ones, after the new ones have been taken
            in_use = ExitStack()
            self._handles = _handles([hot for hot, _ in handlers], in_use)
        self._hot_in_use = in_use
        self._handlers = self._takers(handlers)
        self._topics = [hot for hot, _ in handlers]
        self._executor.hot = frozenset([*self._topics, *self._slack_topics])
        for gone in before - self._executor.hot:
            LOCAL_TOPICS.forget(gone)
        self._hot_set = self._new_set(NumberOfEntities(num_subs=max(1, len(handlers))))
        self._busiest = 0  # place of the topic that the last message came on

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until there is something to do, at most ``timeout`` seconds (None: for ever), and do all of it.

        Returns whether anything was done. Raises ExternalShutdownException when rclpy is shut down.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        done = self._take_hot() or self._get_hot(HOT_PATIENCE if timeout is None else min(timeout, HOT_PATIENCE))
        now = time.monotonic()
        if self._slack and now >= self._slack_due:
            done = self._take_slack() or done
        if now >= self._rest_due:
            done = self.serve() or done
        while not done:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0.0:
                break
            done = self._wait_for_all(left)
        return done

    def serve(self) -> bool:
        """Serve now, without waiting, what is ready of the node apart from the hot subscriptions.

        Returns whether there was anything. For a caller that has just finished work which a service is waiting for.
        """
        self._raise_when_shut_down()
        served = self._executor.serve_ready(self._failed)
        self._have_cores = self._processes() <= len(os.sched_getaffinity(0))
        self._rest_due = time.monotonic() + REST_PERIOD
        return served

    def close(self) -> None:
        """Give the node back: it may be spun or destroyed afterwards, the loop not be used any more."""
        if not self._is_closed:
            self._is_closed = True
            for topic in self._executor.hot:
                LOCAL_TOPICS.forget(topic)
            self._executor.remove_node(self._node)
            self._executor.shutdown()
            self._hot_in_use.close()
            self._in_use.close()
            self._interrupt.destroy()

    def _get_hot(self, timeout: float) -> bool:
        """Look for hot messages, then wait for them, and handle what came; returns whether anything did."""
        if timeout <= 0.0:
            return False
        start = time.monotonic()
        if self._answers_come_fast and self._have_cores:
            take, handler, _ = self._handlers[self._busiest]
            while time.monotonic() - start < LOOKING:
                os.sched_yield()  # the middleware's threads and the other process may need this core
                message = take()
                if message is not None:
                    handler(message)
                    self._take_hot(besides=self._busiest)  # what came with it on other topics
                    return True
        self._wait_for_hot(timeout)
        self._answers_come_fast = time.monotonic() - start < 2 * LOOKING
        return self._take_hot()

    def _wait_for_hot(self, timeout: float) -> None:
        wait_set = self._hot_set
        wait_set.clear_entities()  # a wait removes what was not ready, so that the set is filled again each time
        for handle in self._handles:
            wait_set.add_subscription(handle)
        self._wait(wait_set, timeout)

    def _wait_for_all(self, timeout: float | None) -> bool:
        """Wait for anything of the node and serve it; returns whether anything was served."""
        node, can_execute = self._node, self._executor.can_execute
        with ExitStack() as in_use:
            own = [*self._handles, *self._slack_handles]
            subscriptions = own + _handles(filter(can_execute, node.subscriptions), in_use)
            timers = _handles(filter(can_execute, node.timers), in_use)
            clients = _handles(filter(can_execute, node.clients), in_use)
            services = _handles(filter(can_execute, node.services), in_use)
            node_guards = list(filter(can_execute, node.guards))
            guards = _handles([*node_guards, self._interrupt, self._executor._guard], in_use)
            size = NumberOfEntities(len(subscriptions), len(guards), len(timers), len(clients), len(services))
            waitables = []
            for waitable in filter(can_execute, node.waitables):
                try:
                    in_use.enter_context(waitable)
                except InvalidHandle:  # destroyed in the meantime
                    continue
                waitables.append(waitable)
                size += waitable.get_num_entities()
            wait_set = self._new_set(size)
            wait_set.clear_entities()
            for handles, add in (
                (subscriptions, wait_set.add_subscription),
                (timers, wait_set.add_timer),
                (clients, wait_set.add_client),
                (services, wait_set.add_service),
                (guards, wait_set.add_guard_condition),
            ):
                for handle in handles:
                    add(handle)
            for waitable in waitables:
                waitable.add_to_wait_set(wait_set)
            self._wait(wait_set, timeout)
            triggered = wait_set.get_ready_entities("guard_condition")
            for guard in node_guards:
                if guard.handle.pointer in triggered:
                    guard.trigger()  # waiting has cleared it, and the executor is to see it
        handled = self._take_slack() | self._take_hot()
        if handled and time.monotonic() < self._rest_due:
            return True  # somebody waits for the answer
        return self.serve() or handled

    def _take_hot(self, besides: int = -1) -> bool:
        """Take the messages that have come on hot subscriptions and hand them on; returns whether there were any."""
        handled = False
        for place, (take, handler, at_most) in enumerate(self._handlers):
            if place == besides:
                continue
            for _ in range(at_most):  # as many as the history holds: who sends without pause does not keep us for ever
                message = take()
                if message is None:
                    break
                handled = True
                self._busiest = place
                handler(message)
        return handled

    def _take_slack(self) -> bool:
        """Take what has come on slack subscriptions; returns whether there was anything."""
        handled = False
        for take, handler, at_most in self._slack:
            for _ in range(at_most):
                message = take()
                if message is None:
                    break
                handled = True
                handler(message)
        self._slack_due = time.monotonic() + SLACK_PERIOD
        return handled

    def _takers(self, handlers: Sequence[Handler]) -> list[tuple[Callable[[], Any], Callable[[Any], None], int]]:
        """For each handler what gives its next message or None, itself, and how many messages the history holds."""
        return [
            (self._taker(topic), self._outlived(topic, handler), max(1, topic.qos_profile.depth))
            for topic, handler in handlers
        ]

    def _taker(self, subscription: Subscription[Any]) -> Callable[[], Any]:
        """A function that gives the next message of the subscription, or None."""
        take, message_type, raw = subscription.handle.take_message, subscription.msg_type, subscription.raw

        def next_message() -> Any:
            try:
                taken = take(message_type, raw)
            except Exception as error:  # not a message of this type
                self._failed(_name_of(subscription), error)
                return None
            return None if taken is None else taken[0]

        local = LOCAL_TOPICS.queue_of(subscription)
        return next_message if local is None else local.taker(next_message)

    def _outlived(self, topic: Subscription[Any], handler: Callable[[Any], None]) -> Callable[[Any], None]:
        """The handler of a topic, which raises nothing that the loop is to outlive."""

        def handle(message: Any) -> None:
            try:
                handler(message)
            except Exception as error:
                self._failed(_name_of(topic), error)

        return handle

    def _failed(self, what: str, error: Exception) -> None:
        if self._on_failure is None or isinstance(error, ExternalShutdownException):
            raise error
        if not self._node.context.ok():  # nothing works any more
            raise ExternalShutdownException from error
        self._on_failure(what, error)

    def _new_set(self, size: NumberOfEntities) -> Any:
        self._raise_when_shut_down()
        context: Any = self._node.context.handle
        return rclpy_implementation.WaitSet(
            size.num_subscriptions,
            size.num_guard_conditions,
            size.num_timers,
            size.num_clients,
            size.num_services,
            size.num_events,
            context,
        )

    def _wait(self, wait_set: Any, timeout: float | None) -> None:
        wait_set.wait(-1 if timeout is None else int(timeout * _NANOSECONDS))
        self._raise_when_shut_down()

    def _raise_when_shut_down(self) -> None:
        if not self._node.context.ok():
            raise ExternalShutdownException


def _name_of(entity: Any) -> str:
    """What a log calls the entity of an executor whose callback failed."""
    for attribute, kind in (("topic_name", "topic"), ("service_name", "service")):
        name = getattr(entity, attribute, None)
        if name is not None:
            return f"{kind} '{name}'"
    return "a callback" if entity is None else f"a callback of {type(entity).__name__}"


def _give_back(entity: Any) -> None:
    """Let the executor see an entity again that could not even be read: rclpy would leave it, and its group, aside."""
    if getattr(entity, "_executor_event", False):
        entity._executor_event = False
        if entity.callback_group is not None:
            entity.callback_group.ending_execution(entity)


def _handles(entities: Any, in_use: ExitStack) -> list[Any]:
    """The rcl handles of the entities, kept alive until ``in_use`` ends; what was destroyed already is left out."""
    handles = []
    for entity in entities:
        try:
            in_use.enter_context(entity.handle)
        except InvalidHandle:
            continue
        handles.append(entity.handle)
    return handles
