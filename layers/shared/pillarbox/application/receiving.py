"""Receive a mail that SES stored: one object becomes one record, and one event.

The record is the commit, as with emails that are sent. Its id derives from the object's key and the
time at which it was stored, so a notification that is repeated, late or replayed finds the record.
What the event shows is in the bucket before. The object of SES is deleted last.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from itertools import islice
from typing import Final
from uuid import UUID

from pillarbox.application.ports import Clock, Messages
from pillarbox.application.receiving_ports import (
    RECEIVED,
    ReceiptRules,
    ReceivedMails,
    ReceivedObjects,
    ReceivingDomain,
    ReceivingDomains,
    StoredRaw,
)
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.alert import Alert, AlertKind
from pillarbox.domain.address import domain_of
from pillarbox.domain.errors import cut
from pillarbox.domain.ids import named_id
from pillarbox.domain.messages.header_text import MAX_SUBJECT
from pillarbox.domain.replies import (
    MAX_FILES,
    Answered,
    Automatic,
    MailVerdict,
    ReceivedContent,
    ReceivedMail,
    read_token,
    token_in_address,
    tokens_in_references,
)
from pillarbox.mime.received import (
    ReceivedStructure,
    automatic_of,
    content_of,
    describe,
    files_of,
    is_authenticated,
    read_structure,
    trace_of,
)
from pillarbox.rendering.text import text_from_html

#: From this receipt on a mail is recorded unread: reading it may have ended the process. So many
#: receipts take an hour, since an outage must not leave mail unread.
_UNREAD_FROM: Final = 10
#: Mails in a day to one account, from one domain to it, and from one address to it.
MAX_OF_ACCOUNT: Final = 10_000
MAX_OF_DOMAIN: Final = 2_000
MAX_OF_SENDER: Final = 200
#: How often a rule is stopped in a day: SES may fail, and allows one change in a second.
_MAX_STOPS: Final = 10
#: Of the tokens that a mail has, those that are looked up. Each may cost a read.
_MAX_TOKENS: Final = 20
_DAY: Final = timedelta(days=1)
_MAX_ADDRESS: Final = 320
_UNKNOWN: Final = "unknown"


class ReceiveOutcome(StrEnum):
    RECEIVED = "received"
    #: It has a record already.
    KNOWN = "known"
    #: It is not there any more: another receipt handled it, or it expired.
    GONE = "gone"
    #: It answers no email, and goes to no address that the account named.
    UNADDRESSED = "unaddressed"
    #: Its sender, the sender's domain or all of them sent too many in a day.
    LIMITED = "limited"


@dataclass(frozen=True, slots=True)
class ReceiveResult:
    outcome: ReceiveOutcome
    account_id: str | None = None
    received_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivingLimit:
    """Stops and resumes. Each further mail costs, also one that is left out."""

    receiving: ReceivingDomains
    rules: ReceiptRules
    raise_alert: Callable[[str, Alert], None]
    clock: Clock

    def stop(self, domain: ReceivingDomain, most: int) -> None:
        """Let SES refuse the mail of a domain until the next day (UTC), and tell the owners."""
        today = self.clock().astimezone(UTC).date()
        # What resumes it comes first: a rule that is stopped without it would stay so.
        if not self.receiving.stop(domain, today):
            return  # it has no rule
        self.rules.switch(domain.domain, on=False)
        midnight = self.clock().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        text = (
            f"{domain.domain} got {most:,} mails today, which is the limit of a day. Until midnight"
            " (UTC) each further one is refused, and SES tells its sender."
        )
        alert = Alert(
            kind=AlertKind.QUOTA,
            name=f"received {domain.domain}",
            at=midnight,
            title=f"{domain.domain} receives no more mail today",
            paragraphs=[text],
            about=domain.domain,
        )
        self.raise_alert(domain.account_id, alert)

    def look(self, account: Account) -> None:
        """Let the domain of an account receive again, on a day after it stopped."""
        domain = self.receiving.get(account.reply_domain or "")
        today = self.clock().astimezone(UTC).date()
        if domain and domain.stopped_on and domain.stopped_on < today:
            self.rules.switch(domain.domain, on=True)
            self.receiving.resume(domain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiving:
    """Turns what SES stored into records."""

    domains: ReceivingDomains
    objects: ReceivedObjects
    records: ReceivedMails
    messages: Messages
    #: Returns the keys of tokens: none before the first email that asks for answers.
    keys: Callable[[], Sequence[bytes]]
    account_of: Callable[[str], Account | None]
    #: Counts something in a window of time; returns False if there were so many.
    count: Callable[[str, timedelta, int, datetime], bool]
    limit: ReceivingLimit
    clock: Clock

    def receive(self, key: str, receipts: int = 1) -> ReceiveResult:
        """Record the mail with a key, which was received so many times from the queue.

        It is counted at its first receipt alone: an outage must not use up what a day allows.

        Raises:
            ServiceError: `service_unavailable`; the call may be repeated.
        """
        domain = self.domains.get(key.removeprefix(RECEIVED).partition("/")[0])
        raw = self.objects.get(key)
        if raw is None:
            return ReceiveResult(ReceiveOutcome.GONE)
        account = self.account_of(domain.account_id) if domain else None
        if domain is None or account is None:
            self.objects.delete(key)
            return ReceiveResult(ReceiveOutcome.UNADDRESSED)
        received_id = named_id(key, raw.stored_at)
        if self.records.get(domain.account_id, received_id):
            outcome = ReceiveOutcome.KNOWN
        elif receipts == 1 and not self._counts(domain, "", MAX_OF_ACCOUNT):
            if self._counts(domain, "#stops", _MAX_STOPS):
                self.limit.stop(domain, MAX_OF_ACCOUNT)
            outcome = ReceiveOutcome.LIMITED
        else:
            outcome = self._record(account, domain, raw, received_id, receipts)
        self.objects.delete(key)
        return ReceiveResult(outcome, domain.account_id, received_id)

    def _record(
        self,
        account: Account,
        domain: ReceivingDomain,
        raw: StoredRaw,
        received_id: UUID,
        receipts: int,
    ) -> ReceiveOutcome:
        readable = receipts < _UNREAD_FROM
        structure = read_structure(raw.octets if readable else raw.octets[: 64 * 1024])
        trace = trace_of(structure)
        recipient, answered = self._addressed(domain, structure)
        if recipient is None:
            return ReceiveOutcome.UNADDRESSED
        senders = structure.mailboxes("from")
        sender = next(iter(senders), None)
        address = cut(sender.address if sender else trace.return_path or "", _MAX_ADDRESS)
        envelope = trace.return_path or address
        if receipts == 1 and not self._is_within_limits(domain, envelope, trace.verdicts.spf):
            return ReceiveOutcome.LIMITED
        content = (
            content_of(structure, raw.octets, text_from_html) if readable else ReceivedContent()
        )
        parts = files_of(structure)[:MAX_FILES] if readable else ()
        contents = [part.content(raw.octets) for part in parts]
        mail = ReceivedMail(
            account_id=domain.account_id,
            received_id=received_id,
            received_at=raw.stored_at,
            size=len(raw.octets),
            days=account.received_days,
            parsed=readable,
            recipient=recipient,
            sender=address,
            sender_name=cut(sender.name, MAX_SUBJECT) if sender and sender.name else None,
            subject=cut(structure.text("subject"), MAX_SUBJECT),
            message_id_header=cut(structure.text("message-id"), MAX_SUBJECT) or None,
            answered=answered,
            verdicts=trace.verdicts,
            authenticated=is_authenticated([one.address for one in senders], trace),
            automatic=automatic_of(structure, trace) or _own(domain, address),
            files=tuple(
                describe(part, len(octets)) for part, octets in zip(parts, contents, strict=True)
            ),
            to=_addresses(structure, "to"),
            cc=_addresses(structure, "cc"),
            reply_to=_addresses(structure, "reply-to"),
        )
        types = [part.content_type for part in parts]
        self.objects.save(mail, raw.octets, content, zip(types, contents, strict=True))
        return ReceiveOutcome.RECEIVED if self.records.add(mail) else ReceiveOutcome.KNOWN

    def _addressed(
        self, domain: ReceivingDomain, structure: ReceivedStructure
    ) -> tuple[str | None, Answered | None]:
        """Return the address of the account that a mail is for, and which email it answers.

        Without either the mail is for none of the account's addresses.
        """
        addresses = [*_recipients(structure, domain.domain)]
        references = " ".join(map(structure.text, ("in-reply-to", "references")))
        tokens: list[tuple[str | None, str]] = [
            *((one, token) for one in addresses if (token := token_in_address(one, domain.domain))),
            *((None, token) for token in tokens_in_references(references, domain.domain)),
        ]
        for address, token in islice(dict.fromkeys(tokens), _MAX_TOKENS):
            message_id = read_token(token, domain.account_id, self.keys())
            message = message_id and self.messages.peek(domain.account_id, message_id)
            if message:
                answered = Answered(
                    message_id=message.message_id,
                    tags=message.origin.labels.tags,
                    template=message.origin.template,
                )
                return address or next(iter(addresses), f"{_UNKNOWN}@{domain.domain}"), answered
        for one in addresses:
            name = one.rpartition("@")[0]
            if domain.names & {name, name.partition("+")[0]}:  # support+ticket-1 is support
                return one, None
        return None, None

    def _is_within_limits(self, domain: ReceivingDomain, sender: str, spf: MailVerdict) -> bool:
        """Count a mail of a sender and of its domain; one of few senders leaves room for others.

        What others send in its name is counted apart, and takes no room from it.
        """
        limits = ((sender, MAX_OF_SENDER), (f"@{domain_of(sender)}", MAX_OF_DOMAIN))
        return all(
            self._counts(domain, f"#{sha256(f'{spf}{whose}'.lower().encode()).hexdigest()}", most)
            for whose, most in limits
        )

    def _counts(self, domain: ReceivingDomain, what: str, most: int) -> bool:
        subject = f"received#{domain.account_id}{what}"
        return self.count(subject, _DAY, most, self.clock())


def _recipients(structure: ReceivedStructure, domain: str) -> Iterator[str]:
    """Yield the addresses of a domain that a mail names: first what SES wrote of its envelope."""
    received = structure.first("received").decode("utf-8", "replace")
    envelope = received.rpartition(" for ")[2].partition(";")[0].strip("<> ").lower()
    named = (one.address.lower() for name in ("to", "cc") for one in structure.mailboxes(name))
    for address in dict.fromkeys((envelope, *named)):
        if address.endswith(f"@{domain}"):
            yield cut(address, _MAX_ADDRESS)


def _own(domain: ReceivingDomain, sender: str) -> Automatic | None:
    """Take mail from an address that only the service reads for an answer to itself."""
    return Automatic.REPLY if domain_of(sender).lower() == domain.domain else None


def _addresses(structure: ReceivedStructure, name: str) -> tuple[str, ...]:
    return tuple(cut(one.address, _MAX_ADDRESS) for one in structure.mailboxes(name)[:50])
