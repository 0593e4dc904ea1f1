"""What sending needs from outside the application."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pillarbox.application.authentication import KeyCheck
from pillarbox.application.ports import (
    Claims,
    Clock,
    Directory,
    Jobs,
    MailDomains,
    Messages,
    Quotas,
    Refusals,
)
from pillarbox.domain.accounts.key_policy import PreviewSettings
from pillarbox.domain.messages.mail import SendRequest

if TYPE_CHECKING:
    from uuid import UUID

    from pillarbox.application.waiting import WaitingMail
    from pillarbox.domain.messages.upload import UploadedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class SendingPorts:
    """Everything outside the application that sending needs."""

    directory: Directory
    claims: Claims
    quotas: Quotas
    refusals: Refusals
    jobs: Jobs
    messages: Messages
    domains: MailDomains
    #: Returns those of an account's uploads that exist, by their ids.
    find_uploads: "Callable[[str, Collection[UUID]], Mapping[UUID, UploadedFile]]"
    #: Returns what stores the emails that are not to be sent at once.
    waiting: "Callable[[], WaitingMail]"
    clock: Clock
    preview: PreviewSettings
    #: Returns whether a text is the edge's secret.
    is_of_edge: Callable[[str], bool]

    @property
    def key_check(self) -> KeyCheck:
        return KeyCheck(self.clock, self.is_of_edge)

    def find_files(
        self, account_id: str, requests: Sequence[SendRequest]
    ) -> "Mapping[UUID, UploadedFile]":
        """Return the uploaded files that requests name, as far as there are any.

        Raises:
            ServiceError: `service_unavailable`.
        """
        named = {file.upload_id for request in requests for file in request.uploads}
        if not named:
            return {}
        from pillarbox.domain.messages.upload import is_usable  # noqa: PLC0415  few emails have one

        now = self.clock()
        return self.find_uploads(account_id, {each for each in named if is_usable(each, now)})
