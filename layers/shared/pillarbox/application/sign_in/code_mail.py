"""Send a one-time code by email, if its address is a user's.

The email has the sender of preview keys, the one address that is the service's own, and is a
message of the service's own account: the user may have none or several.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pillarbox.application.ports import Clock, Jobs, Messages
from pillarbox.application.sending.service_mail import accept_service_mail, prepare_service_mail
from pillarbox.application.sign_in.ports import Users
from pillarbox.domain.account import Account, Plan
from pillarbox.domain.ids import named_id
from pillarbox.domain.mail import Mail, SavedBody
from pillarbox.domain.session import SERVICE_ACCOUNT_ID
from pillarbox.domain.sign_in import CODE_TIME, CodeRequest
from pillarbox.rendering.notice import code_source

#: The account of the service's own emails.
SERVICE: Final = Account(
    account_id=SERVICE_ACCOUNT_ID,
    name="Pillarbox",
    plan=Plan.ENTERPRISE,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeMail:
    """Sends codes; `sender` is the service's own address, and `base_url` that of the app's host."""

    users: Users
    jobs: Jobs
    messages: Messages
    sender: str
    base_url: str
    clock: Clock

    def send(self, request: CodeRequest) -> bool:
        """Accept the email of a code; return False if there is none to send.

        There is none if no user has the address, the code has expired, or the email was accepted
        before.
        """
        now, expires_at = self.clock(), request.at + CODE_TIME
        user = self.users.get(request.address)
        message_id = named_id(f"code {request.flow_id}", request.at)
        if user is None or now >= expires_at:
            return False
        if self.messages.get(SERVICE_ACCOUNT_ID, message_id) is not None:
            return False
        mail = self._mail(user.address, request)
        prepared = prepare_service_mail(mail, SERVICE, now).with_id(message_id)
        accept_service_mail(self.jobs, self.messages, prepared, expires_at)
        return True

    def _mail(self, address: str, request: CodeRequest) -> Mail:
        # The code is in the fragment: no server sees it, and no scanner's GET uses it up.
        url = f"{self.base_url}/app/sign-in#{request.flow_id}.{request.code}"
        return Mail(
            sender=self.sender,
            from_name=SERVICE.name,
            to=(address,),
            cc=(),
            bcc=(),
            reply_to=None,
            subject="Your Pillarbox code",
            body=SavedBody(
                source=code_source(),
                values={
                    "code": request.code,
                    "minutes": CODE_TIME.seconds // 60,
                    "url": url,
                    "address": address,
                },
            ),
        )
