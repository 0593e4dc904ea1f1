"""Webhooks and the events that they announce."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pillarbox.wiring.clock import utc_now
from pillarbox.wiring.sending import ServiceMailWiring

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pillarbox.adapters.sqs.webhook_jobs import SqsWebhookQueue
    from pillarbox.application.alerts.choices import AlertChoices
    from pillarbox.application.alerts.telling import AlertTelling, ChatPosts
    from pillarbox.application.waiting import DueMail
    from pillarbox.application.webhooks.announce import Announcement
    from pillarbox.application.webhooks.endpoints import WebhookQueries, Webhooks
    from pillarbox.application.webhooks.enqueue_due import DueTasks
    from pillarbox.application.webhooks.owner_notice import OwnerNotices
    from pillarbox.application.webhooks.ports import AwsPoster, PayloadWriter, WebhookPoster
    from pillarbox.application.webhooks.post import WebhookWorker
    from pillarbox.application.webhooks.replays import WebhookReplays
    from pillarbox.domain.webhooks.endpoint import WebhookFormat


class WebhookWiring(ServiceMailWiring):
    """Makes each use case of this area once."""

    @cached_property
    def webhook_queries(self) -> "WebhookQueries":
        from pillarbox.application.webhooks.endpoints import WebhookQueries

        return WebhookQueries(
            endpoints=self.endpoint_store,
            healths=self.endpoint_healths,
            deliveries=self.delivery_store,
            service_account=self.settings.aws_webhooks_account,
        )

    @cached_property
    def webhooks(self) -> "Webhooks":
        from pillarbox.application.webhooks.endpoints import Webhooks

        return Webhooks(
            endpoints=self.endpoint_store,
            healths=self.endpoint_healths,
            poster=lambda: self.webhook_poster,
            slow_requests=self.slow_requests,
            queue=self.webhooks_queue,
            log=self.change_log,
            clock=utc_now,
            switched_on=self.settings.webhooks,
            service_account=self.settings.aws_webhooks_account,
        )

    @cached_property
    def webhook_poster(self) -> "WebhookPoster":
        from pillarbox.adapters.webhook_poster import HttpsWebhookPoster

        return HttpsWebhookPoster(
            self.settings.dns_servers, allow_local=self.settings.local_webhooks
        )

    @cached_property
    def aws_poster(self) -> "AwsPoster":
        from pillarbox.adapters.aws_poster import AwsSessionPoster

        return AwsSessionPoster(self.settings.aws_webhooks_account)

    @cached_property
    def webhooks_queue(self) -> "SqsWebhookQueue":
        from pillarbox.adapters.sqs.webhook_jobs import SqsWebhookQueue

        return SqsWebhookQueue(self.settings.webhooks_queue_url)

    @cached_property
    def announcement(self) -> "Announcement[Mapping[str, Any]]":
        from pillarbox.adapters.dynamodb.accounts.account_changes import (
            added_events,
            changed_account,
        )
        from pillarbox.adapters.dynamodb.history.message_log import change_time
        from pillarbox.application.webhooks.announce import Announcement

        return Announcement(
            account_of=changed_account,
            read=added_events,
            written_at=change_time,
            endpoints=self.endpoint_store,
            queue=self.webhooks_queue,
            clock=utc_now,
        )

    def webhook_worker(self, payloads: "Mapping[WebhookFormat, PayloadWriter]") -> "WebhookWorker":
        """Return a worker that posts events to webhook endpoints."""
        from random import random

        from pillarbox.adapters.dynamodb.webhooks.deliveries import DynamoWaitingEvents
        from pillarbox.adapters.threads import in_threads
        from pillarbox.application.webhooks.attempts import PostingPorts
        from pillarbox.application.webhooks.post import WebhookWorker

        ports = PostingPorts(
            endpoints=self.endpoint_store,
            healths=self.endpoint_healths,
            deliveries=self.delivery_store,
            waiting=DynamoWaitingEvents(self.table, utc_now),
            queue=self.webhooks_queue,
            due=self.due_times,
            messages=self.message_store,
            suppressions=self.suppression_store,
            poster=self.webhook_poster,
            aws_poster=lambda: self.aws_poster,
            payloads=payloads,
            post_alert=self.chat_posts.post,
            clock=utc_now,
            random=random,
        )
        return WebhookWorker(ports, in_threads)

    @cached_property
    def due_tasks(self) -> "DueTasks":
        from pillarbox.application.webhooks.enqueue_due import DueTasks

        return DueTasks(
            due=self.due_times,
            queue=self.webhooks_queue,
            notices=self.owner_notices,
            clock=utc_now,
        )

    @cached_property
    def due_mail(self) -> "DueMail":
        from pillarbox.adapters.sqs.jobs import SqsJobs
        from pillarbox.application.waiting import DueMail

        queues = self.settings.jobs_queue_url, self.settings.urgent_jobs_queue_url
        return DueMail(times=self.wake_times, queue=SqsJobs(*queues, bucket=""), clock=utc_now)

    @cached_property
    def owner_notices(self) -> "OwnerNotices":
        from pillarbox.application.webhooks.owner_notice import OwnerNotices

        return OwnerNotices(
            endpoints=self.endpoint_store,
            healths=self.endpoint_healths,
            raise_alert=self.alerts.raise_alert,
        )

    @cached_property
    def chat_posts(self) -> "ChatPosts":
        from pillarbox.application.alerts.telling import ChatPosts

        return ChatPosts(
            records=self.alert_store,
            poster=lambda: self.webhook_poster,
            queue_again=lambda task, delay: self.webhooks_queue.put_all([task], delay),
            clock=utc_now,
        )

    @cached_property
    def alert_telling(self) -> "AlertTelling":
        from pillarbox.application.alerts.telling import AlertTelling

        return AlertTelling(
            records=self.alert_store,
            times=self.alert_times,
            accounts=self.account_store,
            owners_of=self.owners_of,
            messages=self.message_store,
            send_mail=self.send_mail,
            queue_post=(
                (lambda task: self.webhooks_queue.put_all([task]))
                if self.settings.webhooks
                else None
            ),
            clock=utc_now,
        )

    @cached_property
    def alert_choices(self) -> "AlertChoices":
        from pillarbox.application.alerts.choices import AlertChoices

        return AlertChoices(
            records=self.alert_store,
            posts=self.chat_posts,
            raise_alert=self.alerts.raise_alert,
            slow_requests=self.slow_requests,
            log=self.change_log,
            clock=utc_now,
            switched_on=self.settings.webhooks,
        )

    @cached_property
    def webhook_replays(self) -> "WebhookReplays":
        from pillarbox.application.webhooks.replays import WebhookReplays

        return WebhookReplays(
            endpoints=self.endpoint_store,
            deliveries=self.delivery_store,
            queue=self.webhooks_queue,
            log=self.message_log,
            clock=utc_now,
            switched_on=self.settings.webhooks,
        )
