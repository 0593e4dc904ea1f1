"""Receiving: the rules of SES (API v1, in its query protocol), and what a rule does with a mail.

The operations have rows in conformity.yaml. Other sources, read on 2026-11-29: "Receipt rules",
"Deliver to S3 bucket action" and "Service quotas" in the SES developer guide.
"""

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime, parseaddr
from typing import Final
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

#: In octets, of a mail that SES receives.
MAX_SIZE: Final = 40 * 1024 * 1024
#: Rules in a set, and sets.
_MAX_RULES: Final = 200
_MAX_SETS: Final = 40
#: By which SES tries at a new rule whether it may write to the bucket.
_SETUP_KEY: Final = "AMAZON_SES_SETUP_NOTIFICATION"
_SETUP_MAIL: Final = (
    b"From: Amazon Web Services <no-reply-aws@amazon.com>\r\nTo: recipient@example.com\r\n"
    b"Subject: Amazon SES Setup Notification\r\n\r\nSES may write to this bucket.\r\n"
)
_RECIPIENT: Final = re.compile(r"Rule\.Recipients\.member\.\d+")
#: Senders whose first label of a domain is this one fail every check of SES.
_FORGED: Final = "forged."
#: The test texts of GTUBE and EICAR, by which filters are tried.
_SPAM: Final = b"XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"
_VIRUS: Final = b"$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$"

#: Puts an object into a bucket, under a key.
type Store = Callable[[str, str, bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that stores the mail of some domains and addresses in a bucket."""

    name: str
    enabled: bool
    recipients: frozenset[str]
    bucket: str
    prefix: str

    def matches(self, recipient: str) -> bool:
        """Return whether a rule names an address, its domain, or with a dot one above it.

        A rule without recipients takes all.
        """
        address = recipient.lower()
        domain = address.rpartition("@")[2]
        return not self.recipients or any(
            one in {address, domain} or (one.startswith(".") and f".{domain}".endswith(one))
            for one in self.recipients
        )


@dataclass(slots=True)
class RuleSets:
    """The sets of rules of the AWS account; one may be active."""

    sets: dict[str, dict[str, Rule]] = field(default_factory=dict)
    active: str | None = None
    #: Puts an object into a bucket of the stack.
    put_object: Store | None = None

    def matching(self, recipient: str) -> list[Rule]:
        rules = self.sets[self.active].values() if self.active else ()
        return [rule for rule in rules if rule.enabled and rule.matches(recipient)]

    async def receive(self, sender: str, recipients: list[str], octets: bytes) -> None:
        """Store a mail once for each rule that names a recipient, with the fields of SES above."""
        matching = {rule.name: rule for one in recipients for rule in self.matching(one)}
        for rule in matching.values():
            identifier = secrets.token_hex(20)
            named = next(one for one in recipients if rule.matches(one))
            trace = _trace(sender, named, identifier, octets)
            if self.put_object:
                await self.put_object(rule.bucket, f"{rule.prefix}{identifier}", trace + octets)

    def routes(self) -> list[Route]:
        return [Route("/", self._call, methods=["POST"])]

    async def _call(self, request: Request) -> Response:
        given = dict(parse_qsl((await request.body()).decode(), keep_blank_values=True))
        action = given.get("Action", "")
        run = getattr(self, f"_{re.sub(r'(?<=[a-z])(?=[A-Z])', '_', action).lower()}", None)
        if run is None or "Rule" not in action:
            return _error("InvalidAction", f"This SES stand-in does not imitate {action}.")
        try:
            body = run(given)
        except _Refused as refusal:
            return _error(*refusal.args)
        if action == "CreateReceiptRule" and self.put_object:
            rule = _rule_of(given)
            await self.put_object(rule.bucket, f"{rule.prefix}{_SETUP_KEY}", _SETUP_MAIL)
        return _xml(f"<{action}Response><{action}Result>{body}</{action}Result></{action}Response>")

    def _describe_active_receipt_rule_set(self, _: Mapping[str, str]) -> str:
        if self.active is None:
            return ""
        active = self.sets[self.active].values()
        rules = "".join(f"<member>{_rule_xml(one)}</member>" for one in active)
        created = "<CreatedTimestamp>2026-11-29T00:00:00Z</CreatedTimestamp>"
        metadata = f"<Metadata><Name>{escape(self.active)}</Name>{created}</Metadata>"
        return f"{metadata}<Rules>{rules}</Rules>"

    def _create_receipt_rule_set(self, given: Mapping[str, str]) -> str:
        name = given["RuleSetName"]
        if name in self.sets:
            raise _Refused("AlreadyExists", f"Rule set already exists: {name}")
        if len(self.sets) == _MAX_SETS:
            raise _Refused("LimitExceeded", "Too many rule sets")
        self.sets[name] = {}
        return ""

    def _set_active_receipt_rule_set(self, given: Mapping[str, str]) -> str:
        name = given.get("RuleSetName")
        if name is not None:
            self._rules(given)
        self.active = name
        return ""

    def _create_receipt_rule(self, given: Mapping[str, str]) -> str:
        rules, rule = self._rules(given), _rule_of(given)
        if rule.name in rules:
            raise _Refused("AlreadyExists", f"Rule already exists: {rule.name}")
        if len(rules) == _MAX_RULES:
            raise _Refused("LimitExceeded", "Too many rules")
        # Without `After` it comes first.
        self.sets[given["RuleSetName"]] = {rule.name: rule, **rules}
        return ""

    def _update_receipt_rule(self, given: Mapping[str, str]) -> str:
        rules, rule = self._rules(given), _rule_of(given)
        if rule.name not in rules:
            raise _Refused("RuleDoesNotExist", f"Rule does not exist: {rule.name}")
        rules[rule.name] = rule
        return ""

    def _delete_receipt_rule(self, given: Mapping[str, str]) -> str:
        self._rules(given).pop(given["RuleName"], None)  # SES says nothing of one that is gone
        return ""

    def _rules(self, given: Mapping[str, str]) -> dict[str, Rule]:
        name = given["RuleSetName"]
        if name not in self.sets:
            raise _Refused("RuleSetDoesNotExist", f"Rule set does not exist: {name}")
        return self.sets[name]


class _Refused(Exception):
    """The code of an error, and its text."""


def _trace(sender: str, recipient: str, identifier: str, octets: bytes) -> bytes:
    spam, virus = (_verdict(text not in octets).upper() for text in (_SPAM, _VIRUS))
    author = parseaddr(_field(octets, b"from"))[1] or sender
    domain = author.rpartition("@")[2].lower()
    result = _verdict(not domain.startswith(_FORGED))
    now = format_datetime(datetime.now(UTC))
    spf = f"{result} (spfCheck: domain of {domain}) client-ip=127.0.0.1; envelope-from={sender}"
    lines = [
        f"Return-Path: <{sender}>",
        "Received: from [127.0.0.1] (localhost [127.0.0.1])",
        f" by inbound-smtp.us-east-1.amazonaws.com with SMTP id {identifier}",
        f" for {recipient};",
        f" {now} (UTC)",
        f"X-SES-Spam-Verdict: {spam}",
        f"X-SES-Virus-Verdict: {virus}",
        f"Received-SPF: {spf}; helo=localhost;",
        "Authentication-Results: amazonses.com;",
        f" spf={spf}; helo=localhost;",
        f" dkim={result} header.i=@{domain};",
        f" dmarc={result} header.from={domain};",
        f"X-SES-RECEIPT: {identifier}",
        "X-SES-DKIM-SIGNATURE: a=rsa-sha256; q=dns/txt; d=amazonses.com;",
    ]
    return "".join(f"{line}\r\n" for line in lines).encode()


def _field(octets: bytes, name: bytes) -> str:
    found = re.search(rb"(?im)^" + name + rb":([^\n]*)", octets[:65_536])
    return found[1].decode("utf-8", "replace").strip() if found else ""


def _verdict(good: bool) -> str:  # noqa: FBT001  the only argument
    return "pass" if good else "fail"


def _rule_of(given: Mapping[str, str]) -> Rule:
    action = "Rule.Actions.member.1.S3Action."
    if action + "BucketName" not in given:
        raise _Refused("InvalidParameterValue", "This stand-in imitates actions of S3 only.")
    return Rule(
        name=given["Rule.Name"],
        enabled=given.get("Rule.Enabled", "false") == "true",
        recipients=frozenset(v.lower() for k, v in given.items() if _RECIPIENT.fullmatch(k)),
        bucket=given[action + "BucketName"],
        prefix=given.get(action + "ObjectKeyPrefix", ""),
    )


def _rule_xml(rule: Rule) -> str:
    recipients = "".join(f"<member>{escape(one)}</member>" for one in sorted(rule.recipients))
    enabled = str(rule.enabled).lower()
    return (
        f"<Name>{escape(rule.name)}</Name><Enabled>{enabled}</Enabled>"
        "<TlsPolicy>Optional</TlsPolicy>"
        f"<Recipients>{recipients}</Recipients><Actions><member><S3Action>"
        f"<BucketName>{escape(rule.bucket)}</BucketName>"
        f"<ObjectKeyPrefix>{escape(rule.prefix)}</ObjectKeyPrefix>"
        "</S3Action></member></Actions><ScanEnabled>true</ScanEnabled>"
    )


def _xml(body: str, status: int = 200) -> Response:
    return Response(f'<?xml version="1.0"?>{body}', status, media_type="text/xml")


def _error(code: str, message: str) -> Response:
    body = (
        f"<Error><Type>Sender</Type><Code>{code}</Code><Message>{escape(message)}</Message></Error>"
    )
    return _xml(f"<ErrorResponse>{body}<RequestId>0</RequestId></ErrorResponse>", 400)
