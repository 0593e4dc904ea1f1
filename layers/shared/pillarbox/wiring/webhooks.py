"""Webhooks and the events that they announce."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pillarbox.wiring.sending import ServiceMailWiring
from pillarbox.wiring.stores import made

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pillarbox.adapters.sqs.webhook_jobs import SqsWebhookQueue
    from pillarbox.application.accounts.alert_choices import AlertChoices
    from pillarbox.application.accounts.alert_telling import AlertTelling, ChatPosts
    from pillarbox.application.waiting import DueMail
    from pillarbox.application.webhooks.announce import Announcement
    from pillarbox.application.webhooks.endpoints import WebhookQueries, Webhooks
    from pillarbox.application.webhooks.enqueue_due import DueTasks, OwnerNotices
    from pillarbox.application.webhooks.ports import AwsPoster, PayloadWriter, WebhookPoster
    from pillarbox.application.webhooks.post import WebhookWorker
    from pillarbox.application.webhooks.replays import WebhookReplays
    from pillarbox.domain.webhooks.endpoint import WebhookFormat


class WebhookWiring(ServiceMailWiring):
    """Makes each use case of this area once."""

    alert_choices: "AlertChoices" = made(
        "application.accounts.alert_choices",
        records=lambda it: it.alert_store,
        posts=lambda it: it.chat_posts,
    )
    alert_telling: "AlertTelling" = made(
        "application.accounts.alert_telling",
        records=lambda it: it.alert_store,
        times=lambda it: it.alert_times,
        queue_post=lambda it: (
            (lambda task: it.webhooks_queue.put_all([task])) if it.settings.webhooks else None
        ),
    )
    chat_posts: "ChatPosts" = made(
        "application.accounts.alert_telling",
        records=lambda it: it.alert_store,
        poster=lambda it: lambda: it.webhook_poster,
        queue_again=lambda it: lambda task, delay: it.webhooks_queue.put_all([task], delay),
    )
    due_tasks: "DueTasks" = made(
        "application.webhooks.enqueue_due", notices=lambda it: it.owner_notices
    )
    owner_notices: "OwnerNotices" = made("application.webhooks.enqueue_due")
    webhook_queries: "WebhookQueries" = made("application.webhooks.endpoints")
    webhook_replays: "WebhookReplays" = made(
        "application.webhooks.replays", log=lambda it: it.message_log
    )
    webhooks: "Webhooks" = made(
        "application.webhooks.endpoints", poster=lambda it: lambda: it.webhook_poster
    )
    webhooks_queue: "SqsWebhookQueue" = made(
        "adapters.sqs.webhook_jobs", queue_url=lambda it: it.settings.webhooks_queue_url
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
    def announcement(self) -> "Announcement[Mapping[str, Any]]":
        from pillarbox.adapters.dynamodb.accounts.account_changes import (
            added_events,
            changed_account,
        )
        from pillarbox.adapters.dynamodb.history.message_log import change_time
        from pillarbox.application.webhooks.announce import Announcement

        return self.fill(
            Announcement,
            account_of=changed_account,
            read=added_events,
            written_at=change_time,
        )

    def webhook_worker(self, payloads: "Mapping[WebhookFormat, PayloadWriter]") -> "WebhookWorker":
        from random import random

        from pillarbox.adapters.dynamodb.webhooks.deliveries import DynamoWaitingEvents
        from pillarbox.adapters.webhook_poster import in_threads
        from pillarbox.application.webhooks.attempts import PostingPorts
        from pillarbox.application.webhooks.post import WebhookWorker

        ports = self.fill(
            PostingPorts,
            waiting=DynamoWaitingEvents(self.table, self.clock),
            find_received=lambda account_id, one: self.received_reading.find(account_id, one),  # noqa: PLW0108  made at first use
            poster=self.webhook_poster,
            aws_poster=lambda: self.aws_poster,
            payloads=payloads,
            post_alert=self.chat_posts.post,
            random=random,
        )
        return WebhookWorker(ports, in_threads)

    @cached_property
    def due_mail(self) -> "DueMail":
        from pillarbox.adapters.sqs.jobs import SqsJobs
        from pillarbox.application.waiting import DueMail

        queues = self.settings.jobs_queue_url, self.settings.urgent_jobs_queue_url
        return DueMail(times=self.wake_times, queue=SqsJobs(*queues, bucket=""), clock=self.clock)
