"""What a message would be, for somebody who decides whether it is sent."""

from dataclasses import dataclass

from pillarbox.application.render import render, to_text
from pillarbox.domain.messages.mail import Mail, RawBody, TextBody


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A message that passed every check and was not sent."""

    mail: Mail
    #: Empty for a message of text alone.
    html: str
    #: The text part that is made from the HTML, or the message's own if it has no HTML.
    text: str


def rehearsal_of(mail: Mail) -> Rehearsal:
    """Render a mail.

    Raises:
        ValidationFailed: it cannot be rendered.
    """
    if isinstance(mail.body, RawBody):
        raise TypeError("a message over SMTP is not rehearsed")
    html = "" if isinstance(mail.body, TextBody) else render(mail.body)
    return Rehearsal(mail, html, to_text(html) or mail.text or "")
