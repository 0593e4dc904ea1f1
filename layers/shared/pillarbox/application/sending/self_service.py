"""The emails of keys that send tests only: a starter template with its samples."""

from typing import Final

from pillarbox.domain.messages.mail import Mail, StarterBody
from pillarbox.domain.templates.template import fill_subject
from pillarbox.rendering.starters import find_starter
from pillarbox.rendering.values import values_or_samples

#: The start of the subject of a test.
TEST_PREFIX: Final = "[Test] "
#: The sample of `app_name`.
_SAMPLE_BRAND: Final = "Harbour"


def as_test(mail: Mail, report: str | None = None) -> Mail:
    """Return the test that such a key sends instead of an email.

    With `report`, its footer has the link by which the recipient stops such mail.

    It keeps the sender, the recipient and the choice of the template. The values are the samples:
    the caller's were checked as in any send, but a name, an amount or a link could deceive the
    recipient. The top of the email says so. Neither the brand nor the name of the account is in it.
    """
    starter = find_starter(mail.body.slug) if isinstance(mail.body, StarterBody) else None
    if starter is None:
        raise TypeError("a self-service key sends starter templates only")
    body = StarterBody(
        slug=starter.slug,
        values=values_or_samples(starter, {}),
        brand_name=_SAMPLE_BRAND,
        logo_url=None,
        attribution=True,
        is_test=True,
        report=report,
    )
    return Mail(
        sender=mail.sender,
        from_name=None,
        to=mail.to,
        cc=(),
        bcc=(),
        reply_to=(),
        subject=TEST_PREFIX + fill_subject(starter.subject, body.subject_values()),
        body=body,
    )
