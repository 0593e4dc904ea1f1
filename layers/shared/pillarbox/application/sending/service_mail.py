"""Accept the emails that the service itself writes, such as codes, invitations and notices.

No request asks for them, so they have no key and no idempotency key.
"""

import hashlib
from dataclasses import replace
from datetime import datetime

from pillarbox.application.ports import Jobs, Messages, StoredResponse
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.messages.mail import Mail
from pillarbox.domain.messages.message import MessageOrigin, SendRoute


def prepare_service_mail(mail: Mail, account: Account, now: datetime) -> PreparedMessage:
    """Return an email of the service, as a message of an account.

    The hash of the mail takes the place of a body's. So the worker sends the mail that the record
    names, even if two tries queue different ones.
    """
    body_hash = hashlib.sha256(repr(mail).encode()).hexdigest()
    origin = MessageOrigin(route=SendRoute.NOTICE)
    return PreparedMessage.of(mail, account, body_hash, now, origin)


def accept_service_mail(
    jobs: Jobs, messages: Messages, prepared: PreparedMessage, deadline: datetime | None = None
) -> None:
    """Queue the email and store its record, without counting it in a quota.

    Args:
        jobs: the queue.
        messages: where the record goes.
        prepared: the email.
        deadline: when it is too late to deliver it; by default that of any mail.
    """
    job = prepared.job()
    jobs.put(replace(job, deadline=deadline or job.deadline), prepared.mail)
    response = StoredResponse("", message_ids=(prepared.message.message_id,))
    messages.commit(prepared.message, None, response)
