"""The receipt rules of SES that a stack has among those of the AWS account."""

import json
import re
from collections.abc import Callable, Mapping
from time import sleep
from typing import TYPE_CHECKING, Any, Final

from admin.use_cases.ports import Receipts
from pillarbox.adapters.aws import client_of, ignoring, operator_errors
from pillarbox.adapters.ses.receipts import OWN_SET
from pillarbox.domain.accounts.account_domain import inbound_host

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_ses import SESClient

_SES: Final = "email provider"
#: SES makes each of these changes once a second (their pages in the API reference).
_PAUSE: Final = 1.0


class StackReceipts:
    """Reads the receipt rules of a stack, and removes them."""

    _ses: "SESClient" = client_of("ses")
    _s3: "S3Client" = client_of("s3")

    def __init__(
        self, stack: str, bucket: str = "", pause: Callable[[float], None] = sleep
    ) -> None:
        self._bucket = bucket
        self._pause = pause
        # As `SesReceiptRules.rule_name`; another stack's name may begin with this one's.
        self._name = re.compile(re.escape(stack[:47]) + "-[0-9a-f]{16}")

    def receives(self) -> bool:
        """Return whether SES receives mail in this region; where it does not it has no rules."""
        with operator_errors(_SES):
            return self._active() is not None

    def read(self) -> Receipts:
        """Read the rules of the active set, and whether SES may write to the bucket."""
        with operator_errors(_SES):
            active = self._active() or {}
        rules = {
            recipient: rule.get("Enabled", False)
            for rule in active.get("Rules", ())
            if self._name.fullmatch(rule["Name"])
            for recipient in rule.get("Recipients", ())
        }
        return Receipts(
            host=inbound_host(self._ses.meta.region_name),
            active=active.get("Metadata", {}).get("Name"),
            rules=rules,
            may_write=self._may_write(),
        )

    def remove(self) -> None:
        """Delete the rules, and the set of the stacks if none is left; a set of others stays."""
        with operator_errors(_SES):
            active = self._active()
            if active is None:
                return
            name = active.get("Metadata", {}).get("Name")
            found = {name: active.get("Rules", ()), OWN_SET: self._rules(OWN_SET)}
            for of_set, rules in found.items():
                for rule in rules or ():
                    if self._name.fullmatch(rule["Name"]):
                        self._ses.delete_receipt_rule(RuleSetName=of_set, RuleName=rule["Name"])
                        self._pause(_PAUSE)
            if self._rules(OWN_SET) == []:
                self._remove_set(is_active=name == OWN_SET)

    def _remove_set(self, *, is_active: bool) -> None:
        if is_active:
            self._ses.set_active_receipt_rule_set()
            self._pause(_PAUSE)
            if self._rules(OWN_SET):  # another stack has added one meanwhile
                self._ses.set_active_receipt_rule_set(RuleSetName=OWN_SET)
                return
        with ignoring("CannotDelete"):  # another stack has made it active
            self._ses.delete_receipt_rule_set(RuleSetName=OWN_SET)

    def _active(self) -> Mapping[str, Any] | None:
        """Read the active set; empty without one, and None in a region without receiving."""
        with ignoring("InvalidAction"):
            return self._ses.describe_active_receipt_rule_set()
        return None

    def _rules(self, of_set: str) -> list[Any] | None:
        with ignoring("RuleSetDoesNotExist"):
            return [*self._ses.describe_receipt_rule_set(RuleSetName=of_set).get("Rules", ())]
        return None

    def _may_write(self) -> bool:
        text = '{"Statement": []}'
        with operator_errors("bucket"), ignoring("NoSuchBucketPolicy"):
            text = self._s3.get_bucket_policy(Bucket=self._bucket)["Policy"]
        return any(
            each["Effect"] == "Allow" and each["Principal"] == {"Service": "ses.amazonaws.com"}
            for each in json.loads(text)["Statement"]
        )
