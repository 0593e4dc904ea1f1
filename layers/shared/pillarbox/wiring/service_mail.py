"""The emails that the service itself writes: they are small, so they need no spool."""

from functools import cached_property
from typing import TYPE_CHECKING

from pillarbox.wiring.clock import utc_now
from pillarbox.wiring.stores import Stores

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pillarbox.application.sending.service_mail import ServiceMail


class ServiceMailWiring(Stores):
    """Makes what accepts these emails once for each queue: few roles may write to both."""

    def owners_of(self, account_id: str) -> "Iterable[str]":
        """Return the addresses of an account's owners."""
        from pillarbox.domain.sign_in.role import Role

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
            clock=utc_now,
        )
