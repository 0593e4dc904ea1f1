"""What a message would be, for somebody who decides whether it is sent."""

from dataclasses import dataclass
from datetime import datetime

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

    @property
    def own_text(self) -> str | None:
        """The text part that its sender wrote beside the HTML."""
        return self.mail.text if self.html else None


def rehearsal_of(mail: Mail, sent_at: datetime) -> Rehearsal:
    """Render a mail as a send at a time would."""
    if isinstance(mail.body, RawBody):
        raise TypeError("a message over SMTP is not rehearsed")
    html = "" if isinstance(mail.body, TextBody) else render(mail.body, sent_at=sent_at)
    return Rehearsal(mail, html, to_text(html) or mail.text or "")
