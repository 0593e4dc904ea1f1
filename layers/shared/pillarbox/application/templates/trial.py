"""Send the draft of a template to a member of the account, as a test.

The email is like any other: it counts, is recorded and delivered. Its tag names the template, and
its record names no version, because the draft is none.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from pillarbox.application.ports import AcceptedMessage, StoredResponse
from pillarbox.application.render import render
from pillarbox.application.sending.acceptance import Acceptance
from pillarbox.application.sending.admission import check_paused
from pillarbox.application.sending.ports import SendingPorts
from pillarbox.application.sending.prepare import PreparedMessage
from pillarbox.application.sending.recipients import Recipients
from pillarbox.application.templates.editing import TemplateEditing, on_source
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.messages.header_text import MAX_SUBJECT, UNSAFE, is_header_safe
from pillarbox.domain.messages.mail import MAX_TEXT, Mail, SavedBody
from pillarbox.domain.messages.message import Labels, MessageOrigin, SendRoute
from pillarbox.domain.sign_in.session import Member, MemberPrincipal
from pillarbox.domain.templates.draft import TemplateContent
from pillarbox.domain.templates.template import fill_subject, fill_text
from pillarbox.rendering.saved import check_values
from pillarbox.rendering.template_check import check_template

#: The name of the tag, whose value is the template's id.
TEST_TAG: Final = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateTrial:
    """Sends tests of drafts."""

    editing: TemplateEditing
    members_of: Callable[[str], Iterable[Member]]
    ports: SendingPorts

    def send(  # noqa: PLR0913  an email, and what its request has
        self,
        principal: MemberPrincipal,
        template_id: UUID,
        *,
        to: str,
        locale: str | None = None,
        values: Mapping[str, Json],
        request_id: str | None,
        write_response: Callable[[AcceptedMessage], str],
    ) -> StoredResponse:
        account = principal.account
        content = self.editing.draft(account.account_id, template_id).draft.content
        content = content.in_locale(locale)
        recipients = Recipients.parse((to,))
        recipients.check_syntax()
        self._check_member(account.account_id, recipients)
        directory = self.ports.directory.look_up(
            account.account_id, addresses=recipients.mailboxes, quota=True
        )
        # Tests go to members, so the service's own address may send them.
        sender = account.sender(None) if account.has_sender else self.ports.preview.sender
        recipients.check_suppressed(directory.suppressed)
        now = self.ports.clock()
        labels = Labels(tags={TEST_TAG: str(template_id)})
        origin = MessageOrigin(route=SendRoute.HTTP, request_id=request_id, labels=labels)
        check_paused(self.ports.quotas, principal, origin, now)
        directory.quota.check(principal.limits, now)
        subject, body = self._filled(content, account.brand.variables() | dict(values))
        mail = Mail(
            sender=sender,
            from_name=account.brand.from_name,
            to=recipients.normalize((to,)),
            subject=subject,
            body=body,
            text=fill_text(content.text, body.values, MAX_TEXT) if content.text else None,
        )
        body_hash = hashlib.sha256(repr(mail).encode()).hexdigest()
        prepared = PreparedMessage.of(mail, account, body_hash, now, origin)
        acceptance = Acceptance(self.ports, principal)
        prepared = acceptance.reserve(prepared)
        return acceptance.commit(prepared, None, write_response(prepared.accepted))

    def _check_member(self, account_id: str, recipients: Recipients) -> None:
        members = {mailbox_key(one.address) for one in self.members_of(account_id)}
        if not recipients.mailboxes <= members:
            raise ServiceError(
                "recipient_not_allowed",
                "A test goes to members of the account only; nothing was sent.",
                details={
                    "recipients": [
                        {"address": address, "reason": "not_allowed"}
                        for address in recipients.normalized
                    ]
                },
            )

    def _filled(
        self, content: TemplateContent, values: Mapping[str, Json]
    ) -> tuple[str, SavedBody]:
        """Return subject and body of a draft with values, which a send would accept."""
        try:
            check_template(content.subject, content.source, content.text)
            html, _ = self.editing.templates.compile_source(content.kind, content.source)
            required = check_template(content.subject, html, content.text).required
        except ValidationFailed as failed:
            raise on_source(failed) from failed
        check_values(required, values, "values.")
        subject = fill_subject(content.subject, values)
        if not subject or not is_header_safe(subject) or len(subject) > MAX_SUBJECT:
            raise ValidationFailed(FieldError("subject", UNSAFE, "unsafe_subject"))
        body = SavedBody(source=html, values=values)
        render(body)
        return subject, body
