"""What a test asks the SES stand-in to do with emails, by the modes of `PUT /behaviour`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from local.ses.mail import Outcome

#: How SendEmail answers.
type AnswerMode = Literal[
    "accept",
    "throttle",
    "quota",
    "reject",
    "mail-from",
    "pause",
    "suspend",
    "server-error",
    "take-then-error",
    "take-then-timeout",
]
#: What becomes of an accepted email.
type OutcomeMode = Literal[
    "bounce",
    "soft-bounce",
    "complaint",
    "delay",
    "virus",
    "rendering-failure",
    "global-list",
    "open",
    "click",
    "subscription",
]
#: The same, with events of a form that SES does not show in its examples.
type OddMode = Literal[
    "undetermined-bounce",
    "empty-bounce",
    "empty-complaint",
    "empty-delivery",
    "empty-delay",
    "unknown-event",
    "unknown-bounce",
    "untyped-complaint",
    "mixed-bounce",
    "repeated-events",
    "late-delivery",
]
type Mode = AnswerMode | OutcomeMode | OddMode

#: The error that each refusing answer is.
REFUSALS: Final[Mapping[Mode, tuple[str, str]]] = {
    "throttle": ("TooManyRequestsException", "Maximum sending rate exceeded."),
    "quota": ("LimitExceededException", "Daily message quota exceeded."),
    "reject": ("MessageRejected", "The message contains content that cannot be sent."),
    "mail-from": (
        "MailFromDomainNotVerifiedException",
        "The custom MAIL FROM domain is not verified.",
    ),
    "pause": ("SendingPausedException", "Email sending is paused for the account."),
    "suspend": ("AccountSuspendedException", "The account may not send email."),
    "server-error": ("InternalFailure", "The service met an error."),
}
#: The answers that concern the whole call, not one of its recipients.
WHOLE: Final[frozenset[Mode]] = frozenset({*REFUSALS, "take-then-error", "take-then-timeout"})

#: The outcome that each mode causes; the others do not change it.
OUTCOMES: Final[Mapping[Mode, Outcome]] = {
    "bounce": "bounced",
    "soft-bounce": "bounced for now",
    "complaint": "complained",
    "delay": "delayed",
    "virus": "rejected",
    "rendering-failure": "not rendered",
    "global-list": "globally suppressed",
    "open": "opened",
    "click": "clicked",
    "subscription": "subscription changed",
    "undetermined-bounce": "bounced for now",
    "empty-bounce": "bounced",
    "empty-complaint": "complained",
    "empty-delivery": "delivered",
    "empty-delay": "delayed",
    "unknown-event": "delivered",
    "unknown-bounce": "bounced",
    "untyped-complaint": "complained",
    "mixed-bounce": "bounced",
    "repeated-events": "delivered",
    "late-delivery": "delivered",
}


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the next SendEmail calls end, and what becomes of their emails.

    Args:
        mode: `accept` behaves like SES; an answer mode is how SendEmail answers; an outcome mode
            or an odd mode is for emails that are accepted.
        times: the number of calls, after which `accept` applies again; None: no limit.
        delay_seconds: the wait before the response. Without it `take-then-timeout`
            waits until the client disconnects.
        events: False suppresses the events of an accepted mail.
    """

    mode: Mode = "accept"
    times: int | None = None
    delay_seconds: float | None = None
    events: bool = True
