"""What a key made for self-service may send: a starter template with its samples, as a test.

Anyone with an email address can get such a key, and its emails have the operator's sender and
signature. So no word, link, picture or file of the caller reaches the recipient.
"""

from typing import Final

from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.mail import Mail, SendRequest, StarterBody
from pillarbox.domain.templates.template import fill_subject
from pillarbox.rendering.starters import find_starter
from pillarbox.rendering.values import values_or_samples

#: The start of the subject of a test.
TEST_PREFIX: Final = "[Test] "


def check_self_service(request: SendRequest, upgrade_url: str) -> None:
    """Refuse what a self-service key cannot send. Nothing is left out silently.

    Raises:
        ServiceError: `upgrade_required`; the message names each field.
    """
    given = {
        "cc": request.cc,
        "bcc": request.bcc,
        "fromName": request.from_name,
        "subject": request.subject,
        "brandName": request.brand_name,
        "logoUrl": request.logo_url,
        "replyTo": request.reply_to,
        "attachments": request.attachments,
    }
    refused = [name for name, value in given.items() if value not in (None, ())]
    if len(request.to) > 1:
        refused.insert(0, "more than one recipient in to")
    if refused:
        raise ServiceError(
            "upgrade_required",
            f"This key sends starter templates as tests. It cannot use {', '.join(refused)}.",
            upgrade_url=upgrade_url,
        )


def as_test(mail: Mail, report: str | None = None) -> Mail:
    """Return the test that a self-service key sends instead of an email.

    With `report`, its footer has the link by which the recipient stops such mail.

    It keeps the sender, the recipient and the choice of the template. The values are the samples:
    the caller's were checked as in any send, but a name, an amount or a link could deceive the
    recipient. The top of the email says so. Neither the brand nor the name of the account is in it.
    """
    starter = find_starter(mail.body.slug) if isinstance(mail.body, StarterBody) else None
    if starter is None:
        raise TypeError("a self-service key sends starter templates only")
    samples = values_or_samples(starter, {})
    return Mail(
        sender=mail.sender,
        from_name=None,
        to=mail.to,
        cc=(),
        bcc=(),
        reply_to=None,
        subject=TEST_PREFIX + fill_subject(starter.subject, samples),
        body=StarterBody(
            slug=starter.slug,
            values=samples,
            brand_name=None,
            logo_url=None,
            attribution=True,
            is_test=True,
            report=report,
        ),
    )
