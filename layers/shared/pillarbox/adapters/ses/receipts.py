"""The receipt rules of SES (API v1), one for each domain that receives."""

import hashlib
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, service_errors

if TYPE_CHECKING:
    from mypy_boto3_ses import SESClient

_NAME: Final = "email provider"
_EXISTS: Final = "AlreadyExists"
_ABSENT: Final = frozenset({"RuleDoesNotExist", "RuleSetDoesNotExist"})


class SesReceiptRules:
    """Implements `ports.ReceiptRules`.

    Args:
        stack: the stack's name, with which the names of its rules and of its set begin.
        bucket: the bucket to which SES writes; its policy lets SES do so.
    """

    _ses: "SESClient" = client_of("ses")

    def __init__(self, stack: str, bucket: str) -> None:
        self._stack = stack
        self._bucket = bucket

    def put(self, domain: str) -> None:
        """Create a rule in the active set, or replace it; without a set, make one active."""
        with service_errors(_NAME):
            active = self._active_set() or self._new_set()
            request: Any = {"RuleSetName": active, "Rule": self._rule(domain, enabled=True)}
            try:
                self._ses.create_receipt_rule(**request)
            except ClientError as error:
                if code_of(error) != _EXISTS:
                    raise
                self._ses.update_receipt_rule(**request)

    def stop(self, domain: str) -> None:
        """Disable a rule."""
        self._change(
            lambda active: self._ses.update_receipt_rule(
                RuleSetName=active, Rule=self._rule(domain, enabled=False)
            )
        )

    def remove(self, domain: str) -> None:
        """Delete a rule."""
        name = self._rule_name(domain)
        self._change(
            lambda active: self._ses.delete_receipt_rule(RuleSetName=active, RuleName=name)
        )

    def _change(self, call: Any) -> None:  # noqa: ANN401  a call of the SDK
        with service_errors(_NAME):
            active = self._active_set()
            try:
                if active:
                    call(active)
            except ClientError as error:
                if code_of(error) not in _ABSENT:
                    raise

    def _active_set(self) -> str | None:
        found = self._ses.describe_active_receipt_rule_set().get("Metadata")
        return found["Name"] if found else None

    def _new_set(self) -> str:
        """Make the set of this stack active. None is active, so that nobody loses one."""
        try:
            self._ses.create_receipt_rule_set(RuleSetName=self._stack)
        except ClientError as error:
            if code_of(error) != _EXISTS:
                raise
        self._ses.set_active_receipt_rule_set(RuleSetName=self._stack)
        return self._stack

    def _rule_name(self, domain: str) -> str:
        """Return the name of a domain's rule: at most 64 letters, digits and hyphens."""
        digest = hashlib.sha256(domain.encode()).hexdigest()[:16]
        return f"{self._stack[:47]}-{digest}"

    def _rule(self, domain: str, *, enabled: bool) -> Any:  # noqa: ANN401  as the SDK
        action = {"BucketName": self._bucket, "ObjectKeyPrefix": f"received/{domain}/"}
        return {
            "Name": self._rule_name(domain),
            "Enabled": enabled,
            "Recipients": [domain],
            "ScanEnabled": True,
            "Actions": [{"S3Action": action}],
        }
