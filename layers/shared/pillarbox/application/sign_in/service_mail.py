"""The service's own emails to users: codes, invitations, and what has become of a sign-up.

They have the sender of preview keys, the one address that is the service's own, and are messages
of the service's own account: a user may be in no account or in several.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from pillarbox.application.ports import Jobs, Messages
from pillarbox.application.sending.service_mail import accept_service_mail, prepare_service_mail
from pillarbox.domain.accounts.account import Account, Plan
from pillarbox.domain.errors import Json
from pillarbox.domain.messages.mail import Mail, SavedBody
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID

#: The account of the service's own emails.
SERVICE: Final = Account(
    account_id=SERVICE_ACCOUNT_ID,
    name="Pillarbox",
    plan=Plan.ENTERPRISE,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def write_mail(
    sender: str, address: str, subject: str, source: str, values: Mapping[str, Json]
) -> Mail:
    """Write an email of the service from one of its own templates."""
    return Mail(
        sender=sender,
        from_name=SERVICE.name,
        to=(address,),
        cc=(),
        bcc=(),
        reply_to=None,
        subject=subject,
        body=SavedBody(source=source, values=values),
    )


def accept(  # noqa: PLR0913  an email, where it goes, and what only some emails have
    mail: Mail,
    jobs: Jobs,
    messages: Messages,
    now: datetime,
    *,
    message_id: UUID | None = None,
    deadline: datetime | None = None,
) -> None:
    """Accept an email of the service.

    Args:
        mail: the email.
        jobs: the queue.
        messages: the records.
        now: the present time.
        message_id: the same for an email that must be accepted once.
        deadline: if delivery is to be given up before the usual time.
    """
    prepared = prepare_service_mail(mail, SERVICE, now)
    if message_id is not None:
        prepared = prepared.with_id(message_id)
    accept_service_mail(jobs, messages, prepared, deadline)
