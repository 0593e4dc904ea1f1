"""Reads the emails that an application sends through Pillarbox's local stack, and the webhooks."""

from pillarbox_testing.http import StackNotRunning
from pillarbox_testing.inbox import Attachment, Delivery, Email, Inbox, NoEmail
from pillarbox_testing.stack import Pillarbox, Smtp
from pillarbox_testing.webhooks import NoWebhook, ReceivedWebhook, Webhooks

__all__ = [
    "Attachment",
    "Delivery",
    "Email",
    "Inbox",
    "NoEmail",
    "NoWebhook",
    "Pillarbox",
    "ReceivedWebhook",
    "Smtp",
    "StackNotRunning",
    "Webhooks",
]
