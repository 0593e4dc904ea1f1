"""Answer the requests of CloudFormation about custom resources: each gets exactly one response."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import sleep
from typing import Any, Final

from pillarbox import observability
from pillarbox.application.management import ManagementApi, RefusedCall, SecretValues
from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.http.cloudformation.resources import (
    TYPES,
    Resource,
    ResourceTarget,
    read_properties,
)
from pillarbox.http.wire import WireModel

#: Seconds. No call begins later than this before the end of the function's time. The slowest one
#: takes half of it, and the response has the rest.
RESERVE: Final = 60.0
#: A call that the service refuses for now is made so often, after so many seconds.
_TRIES: Final = 12
_WAIT: Final = 10.0
#: In characters. CloudFormation refuses a response of more than 4 KB.
_MAX_REASON: Final = 1_000
#: Begins the id of an object that was never created.
_NONE: Final = "not-created/"


class TimeIsUp(Exception):
    """The function has only the time left that the response needs."""


@dataclass(frozen=True, slots=True)
class ResourceResponse:
    """What CloudFormation gets. `outcome` is for the log: it names no property."""

    body: Mapping[str, Any]
    outcome: str


@dataclass(frozen=True, slots=True)
class TimedApi:
    """Makes calls while there is time."""

    api: ManagementApi
    seconds_left: Callable[[], float]
    pause: Callable[[float], None]

    def call(self, method: str, path: str, body: object = None, **more: Any) -> Any:  # noqa: ANN401  as the protocol
        """Make a call, again for two minutes if the service is busy.

        Raises:
            TimeIsUp: it may not end in time.
        """
        for left in reversed(range(_TRIES)):
            if self.seconds_left() < RESERVE:
                raise TimeIsUp
            try:
                return self.api.call(method, path, body, **more)
            except RefusedCall as error:
                if not (error.is_busy and left):
                    raise
            self.pause(_WAIT)
        raise AssertionError("the last try returns or raises")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceProvider:
    """Creates, changes and deletes what stacks describe.

    Args:
        api: the HTTP API, with the management key.
        secrets: where the values of keys and webhooks go.
        seconds_left: returns the time that the function has.
        sleep: waits.
    """

    api: ManagementApi
    secrets: SecretValues
    seconds_left: Callable[[], float]
    sleep: Callable[[float], None] = field(default=sleep)

    def respond(self, event: Mapping[str, Any]) -> ResourceResponse:
        """Carry a request out and return the response. Every failure is one too."""
        work = _Work(self, event)
        try:
            attributes = work.run()
        except TimeIsUp:
            reason, outcome = "It took too long. What is done stays; try again.", "time"
        except ValidationFailed as error:
            faults = "; ".join(f"{one.field} {one.message}" for one in error.errors)
            reason, outcome = faults, "invalid"
        except RefusedCall as error:
            reason, outcome = error.message, error.refusal
        except ServiceError as error:
            reason, outcome = error.message, error.code
        except Exception as error:  # noqa: BLE001  without a response the stack would hang for an hour
            observability.log_failure(observability.make_logger(), error)
            # Its text may have a value.
            reason, outcome = f"{type(error).__name__}: see the log of the function.", "error"
        else:
            return work.response("SUCCESS", "done", Data=attributes)
        return work.response("FAILED", outcome, Reason=reason[:_MAX_REASON])

    def pause(self, seconds: float) -> None:
        """Wait.

        Raises:
            TimeIsUp: there is not so much time.
        """
        if self.seconds_left() < RESERVE + seconds:
            raise TimeIsUp
        self.sleep(seconds)


class _Work:
    """One request."""

    def __init__(self, provider: ResourceProvider, event: Mapping[str, Any]) -> None:
        self._provider = provider
        self._event = event
        self._request: str = event["RequestType"]
        #: The object that CloudFormation knows, and the one that this request has made.
        self._known: str = event.get("PhysicalResourceId", "")
        self._made = self._created = ""
        self._type = TYPES.get(event["ResourceType"])

    def run(self) -> Mapping[str, Any]:
        """Carry it out and return the attributes."""
        if self._type is None:
            types = ", ".join(TYPES)
            raise ServiceError("route_not_found", f"There is no such type. There are {types}.")
        properties = self._event.get("ResourceProperties", {})
        if self._request == "Delete":
            return self._delete(self._type, self._known, properties)
        given = read_properties(self._type.properties, properties)
        if self._request == "Create":
            return self._type.create(self._target(properties), given)
        before = self._event.get("OldResourceProperties", {})
        if all(before.get(name) == properties.get(name) for name in self._type.identity):
            return self._type.update(self._target(properties), given, self._known)
        return self._replace(self._type, properties, given)

    def response(self, status: str, outcome: str, **more: object) -> ResourceResponse:
        """Return the response. A failed update leaves CloudFormation with the object that it knows.

        So the next request is about that one, and what a failed creation made is deleted by the
        request that CloudFormation makes then.
        """
        failed = status == "FAILED"
        made = self._made if self._request == "Create" or not failed else ""
        physical_id = made or self._known or f"{_NONE}{self._event['RequestId']}"
        body = {
            "Status": status,
            "PhysicalResourceId": physical_id,
            **{name: self._event[name] for name in ("StackId", "RequestId", "LogicalResourceId")},
            "NoEcho": self._type is not None and self._type.secret,
            **more,
        }
        return ResourceResponse(body, outcome)

    def _replace(
        self, kind: Resource[Any], properties: Mapping[str, Any], given: WireModel
    ) -> Mapping[str, Any]:
        """Create the new object. CloudFormation asks for the deletion of the old one later."""
        try:
            return kind.create(self._target(properties), given)
        except Exception:
            if self._created:
                self._delete(kind, self._created, properties)
            raise

    def _delete(
        self, kind: Resource[Any], physical_id: str, properties: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        if physical_id.startswith(_NONE):
            return {}
        try:
            kind.delete(self._target(properties), physical_id)
        except RefusedCall as error:
            if not error.is_absence:
                raise
        return {}

    def _target(self, properties: Mapping[str, Any]) -> ResourceTarget:
        provider, account_id = self._provider, properties.get("Account")
        return ResourceTarget(
            acts_for=account_id,
            account_id=account_id or "",  # that of the key's own account is of no use
            api=TimedApi(provider.api, provider.seconds_left, provider.pause),
            secrets=provider.secrets,
            pause=provider.pause,
            properties=properties,
            before=self._event.get("OldResourceProperties", {}),
            name=f"{self._event['StackId']}/{self._event['LogicalResourceId']}",
            may_take=self._request == "Update",
            note_id=self._note,
        )

    def _note(self, physical_id: str, created: bool) -> None:  # noqa: FBT001  as the protocol
        self._made = physical_id
        if created:
            self._created = physical_id


def in_json(response: ResourceResponse) -> bytes:
    """Return the body of a response as CloudFormation takes it."""
    return json.dumps(response.body).encode()
