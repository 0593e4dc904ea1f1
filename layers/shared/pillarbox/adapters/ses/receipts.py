"""The receipt rules of SES (API v1), one for each domain that receives, and their queue."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from botocore.config import Config
from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, ignoring, make_client, service_errors
from pillarbox.application.receiving_ports import RECEIVED
from pillarbox.domain.errors import FieldError, Unavailable, ValidationFailed

if TYPE_CHECKING:
    from mypy_boto3_ses import SESClient

#: The set that is made where none is active. All stacks of an AWS account have the same, so that
#: two that begin at once make the same one active.
OWN_SET: Final = "pillarbox"
_NAME: Final = "email provider"
_EXISTS: Final = "AlreadyExists"
_NO_RULE: Final = "RuleDoesNotExist"
_NO_SET: Final = "RuleSetDoesNotExist"
#: What SES says of a rule that cannot be, for whom it is to receive. It has 200 rules in a set and
#: 40 sets (docs.aws.amazon.com/ses/latest/dg/quotas.html), and it does not receive in all regions.
_REFUSALS: Final = {
    "InvalidAction": "is not possible: SES receives no mail in the region of this service",
    "LimitExceeded": "is not possible: SES has no room for another rule (200 in its active set)."
    " Ask the operator of this service",
}


class SesReceiptRules:
    """Implements `ports.ReceiptRules`.

    Args:
        stack: the stack's name, with which the names of its rules begin.
        bucket: the bucket to which SES writes; its policy lets SES do so.
    """

    _ses: "SESClient" = client_of("ses")

    def __init__(self, stack: str, bucket: str) -> None:
        self._stack = stack
        self._bucket = bucket

    def put(self, domain: str) -> None:
        """Create a rule in the active set, or replace it; without a set, make one active."""
        with _refusals(), service_errors(_NAME):
            active = self._active_set() or self._new_set()
            # Without `After` it is the first one: no rule of others can stop mail before it.
            request: Any = {"RuleSetName": active, "Rule": self._rule(domain, enabled=True)}
            try:
                self._ses.create_receipt_rule(**request)
            except ClientError as error:
                if code_of(error) != _EXISTS:
                    raise
                self._ses.update_receipt_rule(**request)

    def switch(self, domain: str, *, on: bool) -> None:
        rule = self._rule(domain, enabled=on)
        with service_errors(_NAME), ignoring(_NO_RULE, _NO_SET):
            if active := self._active_set():
                self._ses.update_receipt_rule(RuleSetName=active, Rule=rule)

    def remove(self, domain: str) -> None:
        name = self.rule_name(domain)
        with service_errors(_NAME):
            for each in filter(None, dict.fromkeys((self._active_set(), OWN_SET))):
                with ignoring(_NO_RULE, _NO_SET):
                    self._ses.delete_receipt_rule(RuleSetName=each, RuleName=name)

    def rule_name(self, domain: str) -> str:
        """Return the name of a domain's rule: at most 64 letters, digits and hyphens."""
        digest = hashlib.sha256(domain.encode()).hexdigest()[:16]
        return f"{self._stack[:47]}-{digest}"

    def _active_set(self) -> str | None:
        found = self._ses.describe_active_receipt_rule_set().get("Metadata")
        return found["Name"] if found else None

    def _new_set(self) -> str:
        """Make the set of the stacks active, where no set is active: others keep theirs."""
        with ignoring(_EXISTS):
            self._ses.create_receipt_rule_set(RuleSetName=OWN_SET)
        self._ses.set_active_receipt_rule_set(RuleSetName=OWN_SET)
        return OWN_SET

    def _rule(self, domain: str, *, enabled: bool) -> Any:  # noqa: ANN401  as the SDK
        action = {"BucketName": self._bucket, "ObjectKeyPrefix": f"{RECEIVED}{domain}/"}
        return {
            "Name": self.rule_name(domain),
            "Enabled": enabled,
            "Recipients": [domain],
            "ScanEnabled": True,
            "Actions": [{"S3Action": action}],
        }


class LambdaReceivedQueue:
    """The queue of what SES stored. The template has the mapping disabled: reading costs.

    Args:
        mapping: the id of the event source mapping.
    """

    def __init__(self, mapping: str) -> None:
        self._mapping = mapping

    def read(self) -> None:
        """Enable the mapping if it is disabled; other states end by themselves."""
        with service_errors("functions"):
            state = self._lambda.get_event_source_mapping(UUID=self._mapping)["State"]
            if state == "Disabled":
                self._lambda.update_event_source_mapping(UUID=self._mapping, Enabled=True)

    @cached_property
    def _lambda(self) -> Any:  # noqa: ANN401  as the SDK
        return make_client("lambda", Config())  # a client of the SDK: ours only invokes


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        if refusal := _REFUSALS.get(code_of(error)):
            raise ValidationFailed(FieldError("receive", refusal, "not_allowed")) from None
        if code_of(error) == _NO_SET:  # another stack has just deleted it
            raise Unavailable(_NAME, aws_error=code_of(error)) from error
        raise
