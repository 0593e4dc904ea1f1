"""AWS with prepared answers: requests and answers are checked against botocore's models.

To use the fixture, a test module contains `from tests.integration.admin.aws_stubs import stubs`.
"""

from collections.abc import Container, Mapping
from typing import Any, Final

import botocore.session
from botocore.stub import Stubber

WHEN: Final = "2026-11-22T00:00:00Z"


def stack_id(name: str) -> str:
    return f"arn:aws:cloudformation:eu-west-1:123456789012:stack/{name}/1"


class Stubs:
    """Clients with prepared answers. A request or an answer that differs from its model fails."""

    def __init__(self) -> None:
        self._stubbers: dict[str, Stubber] = {}

    def client(self, service: str, **_: Any) -> Any:
        return self._stubber(service).client

    def answer(self, service: str, method: str, answer: Any, expected: Any = None) -> None:
        """Prepare the answer to the next request, which must have the expected parameters."""
        self._stubber(service).add_response(method, answer, expected)

    def refuse(self, service: str, method: str, code: str, message: str = "") -> None:
        """Prepare an error for the next request."""
        self._stubber(service).add_client_error(method, code, message)

    def stack(self, name: str, status: str = "UPDATE_COMPLETE", **more: Any) -> None:
        """Prepare the description of a stack."""
        about = {"StackId": stack_id(name), "StackName": name, "StackStatus": status}
        self.answer(
            "cloudformation", "describe_stacks", {"Stacks": [about | {"CreationTime": WHEN} | more]}
        )

    def no_stack(self, name: str) -> None:
        """Prepare the refusal to describe a stack that does not exist."""
        message = f"Stack with id {name} does not exist"
        self.refuse("cloudformation", "describe_stacks", "ValidationError", message)

    def resources(
        self,
        named: Mapping[str, str],
        stack: str | None = None,
        *,
        functions: Container[str] = (),
        status: str = "CREATE_COMPLETE",
    ) -> None:
        """Prepare the resources of a stack: physical ids by names, of which some are functions."""
        summaries = [
            {
                "LogicalResourceId": name,
                "PhysicalResourceId": physical_id,
                "ResourceType": f"AWS::Lambda::{'Function' if name in functions else 'Other'}",
                "LastUpdatedTimestamp": WHEN,
                "ResourceStatus": status,
            }
            for name, physical_id in named.items()
        ]
        self.answer(
            "cloudformation",
            "list_stack_resources",
            {"StackResourceSummaries": summaries},
            {"StackName": stack} if stack else None,
        )

    def forget(self) -> None:
        """Begin again, with new clients."""
        self._stubbers.clear()

    def assert_asked(self) -> None:
        """Check that every prepared answer was used."""
        for stubber in self._stubbers.values():
            stubber.assert_no_pending_responses()

    def _stubber(self, service: str) -> Stubber:
        if service not in self._stubbers:
            client = botocore.session.Session().create_client(
                service,
                region_name="eu-west-1",
                aws_access_key_id="test",
                aws_secret_access_key="test",
            )
            self._stubbers[service] = Stubber(client)
            self._stubbers[service].activate()
        return self._stubbers[service]
