"""Accepting emails over HTTP and SMTP."""

from functools import cached_property
from typing import TYPE_CHECKING

from pillarbox.wiring.stores import Stores, made

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pillarbox.adapters.s3 import S3Uploads
    from pillarbox.application.authentication import SeenKeys
    from pillarbox.application.kept import ContentReading
    from pillarbox.application.sending.answering import Answering
    from pillarbox.application.sending.batch import BatchSend
    from pillarbox.application.sending.changes import MessageChanges
    from pillarbox.application.sending.ports import SendingPorts
    from pillarbox.application.sending.send_again import SendAgain
    from pillarbox.application.sending.service_mail import ServiceMail
    from pillarbox.application.sending.single import SingleSend
    from pillarbox.application.sending.smtp import SmtpSubmission
    from pillarbox.application.sending.uploads import UploadStart


class SendingWiring(Stores):
    """Makes each use case of this area once."""

    answering: "Answering" = made(
        "application.sending.answering", records=lambda it: it.received_mails
    )
    batch_send: "BatchSend" = made("application.sending.batch", seen=lambda it: it.seen_keys)
    changes: "MessageChanges" = made(
        "application.sending.changes",
        contents=lambda it: it.waiting_contents,
        waiting=lambda it: lambda: it.waiting_mail,
    )
    content_reading: "ContentReading" = made(
        "application.kept", contents=lambda it: lambda: it.kept_contents
    )
    seen_keys: "SeenKeys" = made("application.authentication")
    send_again: "SendAgain" = made(
        "application.sending.send_again", reading=lambda it: it.content_reading
    )
    single_send: "SingleSend" = made("application.sending.single", seen=lambda it: it.seen_keys)
    smtp_submission: "SmtpSubmission" = made(
        "application.sending.smtp",
        seen=lambda it: it.seen_keys,
        paid_plans_only=lambda it: it.settings.smtp_paid_plans_only,
    )
    upload_start: "UploadStart" = made(
        "application.sending.uploads",
        seen=lambda it: it.seen_keys,
        signer=lambda it: it.uploads,
    )
    uploads: "S3Uploads" = made("adapters.s3")

    @property
    def submission_server(self) -> "tuple[str, int] | None":
        """Return where programs submit email over SMTP, if there is a relay."""
        return self.settings.relay

    @cached_property
    def sending_ports(self) -> "SendingPorts":
        from pillarbox.adapters.dynamodb.messages.claims import DynamoClaims
        from pillarbox.adapters.dynamodb.messages.quota_refusals import DynamoRefusals
        from pillarbox.application.sending.ports import SendingPorts
        from pillarbox.domain.accounts.key_policy import PreviewSettings

        return self.fill(
            SendingPorts,
            claims=DynamoClaims(self.table),
            refusals=DynamoRefusals(self.table),
            domains=self.mail_domains,
            find_uploads=lambda account_id, ids: self.uploads.find(account_id, ids),  # noqa: PLW0108  made at first use
            waiting=lambda: self.waiting_mail,
            preview=PreviewSettings(
                sender=self.settings.preview_sender,
                upgrade_url=self.settings.upgrade_url,
            ),
        )


class ServiceMailWiring(Stores):
    """Makes what accepts these emails once for each queue: few roles may write to both."""

    def owners_of(self, account_id: str) -> "Iterable[str]":
        from pillarbox.domain.sign_in.session import Role

        members = self.member_store.of_account(account_id)
        return [one.address for one in members if one.role is Role.OWNER and not one.pending]

    @cached_property
    def send_mail(self) -> "ServiceMail":
        """Accept emails that can wait, such as invitations and notices."""
        return self._service_mail(self.settings.jobs_queue_url, "")

    @cached_property
    def send_urgent_mail(self) -> "ServiceMail":
        """Accept emails that somebody waits for, such as codes."""
        return self._service_mail("", self.settings.urgent_jobs_queue_url)

    def _service_mail(self, queue_url: str, urgent_queue_url: str) -> "ServiceMail":
        from pillarbox.adapters.sqs.jobs import SqsJobs
        from pillarbox.application.sending.service_mail import ServiceMail

        return ServiceMail(
            jobs=SqsJobs(queue_url, urgent_queue_url, bucket=""),
            messages=self.message_store,
            sender=self.settings.preview_sender,
            clock=self.clock,
        )
