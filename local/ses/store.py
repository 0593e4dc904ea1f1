"""The in-memory state of the SES stand-in: emails, identities, configuration sets.

All writes happen on the event loop that serves the applications. Worker threads may read, so reads
use copies.
"""

from collections import OrderedDict, deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal
from weakref import WeakSet

from local.listeners import Listeners
from local.ses.account import StoredAccount
from local.ses.behaviour import WHOLE, Behaviour
from local.ses.feedback import DAEMON
from local.ses.mail import CapturedMail
from local.ses.receiving import RuleSets
from local.ses.suppression import SuppressedDestinations, SuppressionOptions, SuppressionRule
from local.ses.tenants import TenantStore
from pillarbox.domain.errors import Json

#: `VerificationStatus` of GetEmailIdentity.
type IdentityStatus = Literal["SUCCESS", "PENDING", "FAILED"]

#: Event types that a configuration set can publish, by their names in the API.
EVENT_TYPES: Final = frozenset(
    {
        "SEND",
        "DELIVERY",
        "BOUNCE",
        "COMPLAINT",
        "REJECT",
        "OPEN",
        "CLICK",
        "RENDERING_FAILURE",
        "DELIVERY_DELAY",
        "SUBSCRIPTION",
    }
)


@dataclass(slots=True)
class StoredConfigurationSet:
    """A configuration set with its event destinations as they were created."""

    name: str
    event_destinations: dict[str, dict[str, Json]] = field(default_factory=dict)
    suppression: SuppressionOptions = field(default_factory=SuppressionOptions)
    sending_enabled: bool = True

    def publishes(self, event_type: str | None) -> bool:
        """Return whether an enabled destination matches `event_type` (`DELIVERY`, …).

        None is a type that the API has no name for. Each enabled destination gets it.
        """
        return any(
            destination.get("Enabled") and (event_type is None or event_type in matching)
            for destination in self.event_destinations.values()
            if isinstance(matching := destination.get("MatchingEventTypes"), (list, tuple))
        )


class MailStore:
    """The state behind the SES stand-in and its inbox.

    Args:
        region: the region in ARNs and error messages.
        account_id: the AWS account id, twelve digits.
        keep: the maximum number of emails; the oldest are dropped.
        keep_bytes: the maximum size of all emails, in bytes; the newest is always kept.
        account: the AWS account; without one a new one, which is in the sandbox.
    """

    def __init__(
        self,
        *,
        region: str = "us-east-1",
        account_id: str = "000000000000",
        keep: int = 2_000,
        keep_bytes: int = 256 * 1024 * 1024,
        account: StoredAccount | None = None,
    ) -> None:
        self.region = region
        self.account_id = account_id
        #: The command that sends a first email; the empty inbox shows it. The stack sets it.
        self.hint = ""
        #: The address of the dashboard. The stack sets it.
        self.dashboard = ""
        #: The emails that somebody has read.
        self.read = WeakSet[CapturedMail]()
        #: How long the owner of a new domain takes to create its DNS records, and SES then to find
        #: them. The stack sets it.
        self.publishing_takes = timedelta(0)
        self._listeners = Listeners[CapturedMail | str | None]()
        self.closing = self._listeners.closing
        self.account = account or StoredAccount()
        self.suppressions = SuppressedDestinations()
        self.receipts = RuleSets()
        #: Addresses on the list that all customers of SES share, in lower case.
        self.global_suppressions: set[str] = set()
        self.configuration_sets: dict[str, StoredConfigurationSet] = {}
        #: MAIL FROM domains by identity.
        self.mail_from: dict[str, str] = {}
        self.tenants = TenantStore(region, account_id)
        #: Identities whose feedback SES does not mail to the sender. It does for new ones.
        self.without_feedback: set[str] = set()
        #: The requests that no operation of the stand-in answers, for tests.
        self.unknown_operations: list[str] = []
        self._keep = keep
        self._keep_bytes = keep_bytes
        self._mails: OrderedDict[str, CapturedMail] = OrderedDict()
        self._bytes = 0
        self._sent: deque[tuple[datetime, int]] = deque()
        self._sent_recipients = 0
        #: The status of each identity, or when it becomes verified.
        self._identities: dict[str, IdentityStatus | datetime] = {}
        #: The same of domains that SES does not know yet, and whose proof the DNS was asked for.
        self._expected: dict[str, IdentityStatus | datetime] = {}
        self._behaviours: dict[str | None, Behaviour] = {}

    # Emails

    def add(self, mail: CapturedMail) -> None:
        """Keep an email, drop the oldest emails over the limits, and notify the listeners."""
        self._mails[mail.id] = mail
        self._bytes += len(mail.raw)
        while len(self._mails) > self._keep or (
            self._bytes > self._keep_bytes and len(self._mails) > 1
        ):
            _, dropped = self._mails.popitem(last=False)
            self._bytes -= len(dropped.raw)
        if mail.refusal is None and mail.source != DAEMON:
            self._sent.append((mail.received_at, len(mail.destination.addresses)))
            self._sent_recipients += len(mail.destination.addresses)
        self._listeners.notify(mail)

    def get(self, mail_id: str) -> CapturedMail | None:
        return self._mails.get(mail_id)

    def newest_first(self, *, refused: bool = False) -> list[CapturedMail]:
        """Return the accepted emails, and if asked the refused ones too.

        The list is a copy, because another thread may change the emails.
        """
        mails = list(self._mails.values())[::-1]
        return mails if refused else [mail for mail in mails if mail.refusal is None]

    def delete(self, mail_id: str) -> None:
        """Delete an email, if it exists, and send its id to the listeners."""
        if (mail := self._mails.pop(mail_id, None)) is None:
            return
        self._bytes -= len(mail.raw)
        self._listeners.notify(mail_id)

    def clear(self) -> None:
        """Delete all emails and send None to the listeners."""
        self._mails.clear()
        self._bytes = 0
        self._listeners.notify(None)

    def arrivals(self) -> AsyncGenerator[CapturedMail | str | None]:
        """Yield each new mail, the id of each deleted one, and None when all are deleted."""
        return self._listeners.arrivals()

    def close(self) -> None:
        """End live updates and delayed responses, so that the servers can stop."""
        self._listeners.close()

    def sent_last_24_hours(self) -> int:
        """Return the number of recipients of the emails accepted in the last 24 hours."""
        since = datetime.now(UTC) - timedelta(days=1)
        while self._sent and self._sent[0][0] < since:
            self._sent_recipients -= self._sent.popleft()[1]
        return self._sent_recipients

    # Credentials

    def create_identity(self, identity: str) -> bool:
        """Add an address or a domain; return whether it is verified.

        An address is verified at once, and a domain when SES has found its records. In
        `unverified.example` and its subdomains both stay pending.
        """
        takes = self.publishing_takes * 2 if "@" not in identity else timedelta(0)
        expected = self._expected.pop(_comparable(identity), None)
        self._identities[_comparable(identity)] = expected or _outlook(identity, takes)
        return bool(self.identity_verified(identity))

    def set_identity_status(self, identity: str, status: IdentityStatus) -> bool:
        """Change the status of an identity; return False if it does not exist.

        A domain whose proof the DNS was asked for has the status once SES knows it.
        """
        for known in (self._identities, self._expected):
            if _comparable(identity) in known:
                known[_comparable(identity)] = status
                return True
        return False

    def delete_identity(self, identity: str) -> bool:
        """Delete an identity; return False if it does not exist."""
        self.mail_from.pop(identity, None)
        self.without_feedback.discard(_comparable(identity))
        return self._identities.pop(_comparable(identity), None) is not None

    def identity_verified(self, identity: str) -> bool | None:
        """Return whether an identity is verified, or None if it does not exist."""
        status = self.identity_status(identity)
        return None if status is None else status == "SUCCESS"

    def identity_status(self, identity: str) -> IdentityStatus | None:
        """Return the status of an identity, or None if it does not exist."""
        known = self._identities.get(_comparable(identity))
        if isinstance(known, datetime):
            return "SUCCESS" if known <= datetime.now(UTC) else "PENDING"
        return known

    def published(self, domain: str) -> bool:
        """Return whether the owner of a domain has created its DNS records.

        The owner of a domain that SES does not know begins when the DNS is first asked for it.
        """
        known = self._identities.get(domain)
        if known is None:
            outlook = _outlook(domain, self.publishing_takes * 2)
            known = self._expected.setdefault(domain, outlook)
        if isinstance(known, datetime):
            return known - self.publishing_takes <= datetime.now(UTC)
        return known == "SUCCESS"

    def identities(self) -> dict[str, bool]:
        """Return each identity in order of name, with whether it is verified."""
        return {name: bool(self.identity_verified(name)) for name in sorted(self._identities)}

    def identity_of(self, address: str) -> str | None:
        """Return the verified identity that an address falls under: itself, or its domain.

        A parent domain is an identity for its subdomains too.
        """
        address = _comparable(address)
        labels = address.rpartition("@")[2].split(".")
        names = [address, *(".".join(labels[start:]) for start in range(len(labels)))]
        return next(filter(self.identity_verified, names), None)

    def suppression_rule(
        self, tenant: str | None, configuration_set: str | None
    ) -> SuppressionRule:
        """Return what applies to an email of a tenant, or of none, with a configuration set."""
        sender = self.tenants.find(tenant)
        found = self.configuration_sets.get(configuration_set or "")
        options = found.suppression if found else SuppressionOptions()
        scope = options.scope or (sender.suppression.scope if sender else None)
        own = sender if scope == "TENANT" else None
        reasons = own.suppression.reasons if own else None
        if reasons is None:
            reasons = self.account.suppressed_reasons
        return SuppressionRule(
            "Tenant" if own else "Account",
            own.suppressed if own else self.suppressions,
            reasons if options.reasons is None else options.reasons,
            self.global_suppressions,
        )

    def set_feedback_forwarding(self, identity: str, *, enabled: bool) -> None:
        """Switch on or off whether SES mails bounces and complaints to the sender."""
        change = self.without_feedback.discard if enabled else self.without_feedback.add
        change(_comparable(identity))

    def forwards_feedback(self, sender: str) -> bool:
        """Return whether SES mails feedback to a sender, or to an identity's senders."""
        name = _comparable(sender)
        identity = name if name in self._identities else self.identity_of(sender)
        return identity not in self.without_feedback

    # Configuration sets

    def create_configuration_set(
        self, name: str, *, publish: frozenset[str] = EVENT_TYPES
    ) -> StoredConfigurationSet:
        """Add a configuration set that publishes these event types to EventBridge."""
        created = StoredConfigurationSet(name)
        if publish:
            bus = f"arn:aws:events:{self.region}:{self.account_id}:event-bus/default"
            created.event_destinations["events"] = {
                "Enabled": True,
                "MatchingEventTypes": [*sorted(publish)],
                "EventBridgeDestination": {"EventBusArn": bus},
            }
        self.configuration_sets[name] = created
        return created

    # Behaviours

    def set_behaviour(self, behaviour: Behaviour, recipient: str | None = None) -> None:
        """Set the behaviour of the next calls: of all, or of those with this recipient."""
        self._behaviours[_key(recipient)] = behaviour

    def behaviour(self, recipient: str | None = None) -> Behaviour:
        return self._behaviours.get(_key(recipient), Behaviour())

    def pop_behaviours(self, recipients: tuple[str, ...]) -> dict[str, Behaviour]:
        """Return the behaviour that each recipient of a call meets, and count the call.

        A recipient's own comes before that of all. One that concerns the whole call is alone.
        """
        keys = {
            each: key if (key := _key(each)) in self._behaviours else None for each in recipients
        }
        met = {key: self._behaviours.get(key, Behaviour()) for key in keys.values()}
        for key in [key for key, each in met.items() if each.mode in WHOLE][:1]:
            keys, met = dict.fromkeys(recipients, key), {key: met[key]}
        for key, behaviour in met.items():
            if behaviour.times is None:
                continue
            if behaviour.times <= 1:
                del self._behaviours[key]
            else:
                self._behaviours[key] = replace(behaviour, times=behaviour.times - 1)
        return {each: met[key] for each, key in keys.items()}


def _outlook(identity: str, takes: timedelta) -> IdentityStatus | datetime:
    """Return when SES will have verified an identity, or that it never will by itself."""
    domain = identity.rpartition("@")[2].lower()
    never = f".{domain}".endswith(".unverified.example")
    return "PENDING" if never else datetime.now(UTC) + takes


def _comparable(identity: str) -> str:
    """Return an identity for comparison: only the domain ignores case (RFC 5321 section 2.4)."""
    local, at, domain = identity.rpartition("@")
    return f"{local}{at}{domain.lower()}"


def _key(recipient: str | None) -> str | None:
    return recipient.lower() if recipient else None
