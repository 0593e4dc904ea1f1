"""What a message would be, for a caller that asks before it is sent."""

from dataclasses import dataclass

from pillarbox.application.render import render, to_text
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.domain.messages.mail import Mail, RawBody, TextBody


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A message that passed every check and was not sent."""

    mail: Mail
    html_bytes: int
    #: The text part, as the recipient would get it.
    text: str


def rehearsal_of(prepared: PreparedMessage) -> Rehearsal:
    """Render a prepared message.

    Raises:
        ValidationFailed: it cannot be rendered.
    """
    mail = prepared.mail
    if isinstance(mail.body, RawBody):
        raise TypeError("a message over SMTP is not rehearsed")
    html = "" if isinstance(mail.body, TextBody) else render(mail.body)
    return Rehearsal(mail, len(html.encode()), to_text(html) or mail.text or "")
