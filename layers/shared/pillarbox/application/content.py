"""The content of a mail: from its body to the octets that the provider is given."""

from pillarbox.application.delivery import message_id_header
from pillarbox.domain.mail import Body, HtmlBody, Mail, SavedBody, StarterBody
from pillarbox.domain.message import Message
from pillarbox.mime.build import OutgoingMail, build
from pillarbox.rendering.engine import Branding, render_saved, render_starter
from pillarbox.rendering.text import text_from_html


def render(body: Body) -> str:
    """Render a body to HTML.

    Raises:
        ValidationFailed: what comes out is too large, or a value is lacking.
    """
    match body:
        case StarterBody():
            branding = Branding(body.brand_name, body.logo_url, body.attribution)
            return render_starter(body.slug, body.values, branding)
        case SavedBody():
            return render_saved(body.source, body.values)
        case HtmlBody():
            return body.html


def build_raw(mail: Mail, message: Message) -> bytes:
    """Build the message of RFC 5322: the same octets however often it is built."""
    html = render(mail.body)
    return build(
        OutgoingMail(
            message_id=message_id_header(message),
            date=message.created_at,
            sender=mail.sender,
            from_name=mail.from_name,
            to=mail.to,
            cc=mail.cc,
            reply_to=mail.reply_to,
            subject=mail.subject,
            html=html,
            text=text_from_html(html),
            attachments=mail.attachments,
        )
    )
