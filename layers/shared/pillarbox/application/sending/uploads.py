"""Files that are uploaded before the emails that have them.

The file goes from the caller to the bucket, so it passes neither the API nor a function, whose
requests are limited to 6 MB. The bucket takes only the bytes that the caller announced.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from pillarbox.application.authentication import SeenKeys
from pillarbox.application.sending.admission import (
    check_quota,
    count_refusals,
    http_senders,
)
from pillarbox.application.sending.ports import SendingPorts
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.attachment import check_attachments
from pillarbox.domain.messages.upload import (
    UPLOAD_TIME,
    UPLOAD_URL_TIME,
    SignedUpload,
    UploadedFile,
)
from pillarbox.domain.timing import CLOCK_MARGIN


class UploadSigner(Protocol):
    """Signs requests for the bucket."""

    def sign(self, account_id: str, file: UploadedFile) -> tuple[str, Mapping[str, str]]:
        """Return URL and headers of a PUT that stores this file of an account, and nothing else.

        The URL is valid for `UPLOAD_URL_TIME`.
        """


@dataclass(frozen=True, slots=True)
class UploadStart:
    """Give a caller the request with which it uploads one file."""

    ports: SendingPorts
    seen: SeenKeys
    signer: UploadSigner

    def start(
        self,
        key_text: str,
        file: UploadedFile | ServiceError,
        *,
        origin: ClientOrigin | None = None,
    ) -> SignedUpload:
        """Check a file as a send does, and sign its upload.

        Each upload counts as one costly refusal: it uses no quota, so that one key could otherwise
        fill the bucket.

        Args:
            file: what the caller says of the file, without an id; or the errors of the form.
        """
        ports, senders = self.ports, http_senders(self.ports, self.seen)
        if isinstance(file, ServiceError):
            senders.read(key_text, origin=origin)
            raise file
        principal, directory = senders.look_up(key_text, origin=origin)
        if principal.policy.tests_only:
            raise ports.preview.upgrade_required(
                "This key sends starter templates as tests. It cannot use attachments."
            )
        check_attachments([file])
        check_quota(ports, self.seen, principal, directory)
        now, account_id = ports.clock(), principal.account.account_id
        count_refusals(ports, account_id, 1)
        file = replace(file, upload_id=new_id(now))
        url, headers = self.signer.sign(account_id, file)
        return SignedUpload(
            upload_id=file.upload_id,
            url=url,
            headers=headers,
            expires_at=now + UPLOAD_URL_TIME,
            usable_until=now + UPLOAD_TIME - CLOCK_MARGIN,
        )
