"""Answer an email of the inbox as its recipient, in the form of a usual mail program."""

from email.message import EmailMessage
from email.utils import format_datetime, make_msgid

from local.inbox.reading import view_of
from local.ses.mail import CapturedMail


def answer_to(mail: CapturedMail, text: str) -> tuple[str, str, bytes]:
    """Return who answers, to whom, and the answer: the text, and the email as a quotation."""
    view = view_of(mail)
    fields = {name.lower(): value for name, value in view.headers}
    sender = mail.destination.addresses[0]
    recipient = fields.get("reply-to") or mail.from_header
    answer = EmailMessage()
    answer["From"] = sender
    answer["To"] = recipient
    answer["Subject"] = mail.subject if mail.subject.startswith("Re: ") else f"Re: {mail.subject}"
    answer["Date"] = format_datetime(mail.received_at)
    answer["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2])
    answer["In-Reply-To"] = fields.get("message-id", "")
    answer["References"] = " ".join(
        filter(None, (fields.get("references"), fields.get("message-id")))
    )
    quoted = "\n".join(f"> {line}".rstrip() for line in (view.text or "").splitlines())
    said = f"On {mail.received_at:%a, %b %-d, %Y at %-I:%M %p} {mail.from_header} wrote:"
    answer.set_content(f"{text}\n\n{said}\n\n{quoted}\n")
    return sender, str(answer["To"].addresses[0].addr_spec), answer.as_bytes()
