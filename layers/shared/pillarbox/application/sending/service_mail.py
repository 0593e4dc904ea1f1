"""Accept the emails that the service itself writes."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from pillarbox.application.ports import Clock, Jobs, Messages
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.errors import Json, Withdrawn
from pillarbox.domain.ids import derived_id
from pillarbox.domain.messages.mail import Mail, SavedBody
from pillarbox.domain.messages.message import Labels, MessageOrigin, SendRoute
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceMail:
    """Implements `ports.SendMail`; `sender` is the service's own address."""

    jobs: Jobs
    messages: Messages
    sender: str
    clock: Clock

    def __call__(  # noqa: PLR0913  an email, and what only some have
        self,
        address: str,
        subject: str,
        source: str,
        values: Mapping[str, Json],
        *,
        account: Account | None = None,
        message_id: UUID | None = None,
        deadline: datetime | None = None,
        stop_url: str = "",
        tags: Mapping[str, str] | None = None,
    ) -> None:
        """Queue the email and store its record.

        The hash of the mail takes the place of a body's. So the worker sends the mail that the
        record names, even if two tries queue different ones. It names no tenant: the account does
        not send it, and its owners must hear of it while the provider pauses theirs.
        """
        mail = Mail(
            sender=self.sender,
            from_name=None if account else SERVICE_ACCOUNT.name,
            to=(address,),
            subject=subject,
            body=SavedBody(source=source, values={**values, "stop_url": stop_url}),
        )
        body_hash = hashlib.sha256(repr(mail).encode()).hexdigest()
        origin = MessageOrigin(route=SendRoute.NOTICE, labels=Labels(tags=tags or {}))
        prepared = PreparedMessage.of(
            mail, account or SERVICE_ACCOUNT, body_hash, self.clock(), origin
        )
        prepared = replace(prepared, tenant=None)
        if message_id is not None:
            prepared = prepared.with_id(message_id)
        while not self._accept(prepared, deadline):
            prepared = prepared.with_id(derived_id(prepared.message.message_id, 1))

    def _accept(self, prepared: PreparedMessage, deadline: datetime | None) -> bool:
        """Queue the email and store its record; return False if its id was withdrawn.

        That happens to an id of the caller's: a try died between the two, the worker dropped the
        job, and no later try came in that time. All later tries take the same next id.
        """
        job = prepared.job()
        self.jobs.put(replace(job, deadline=deadline or job.deadline), prepared.mail)
        try:
            self.messages.commit(prepared.message)
        except Withdrawn:
            return False
        return True
