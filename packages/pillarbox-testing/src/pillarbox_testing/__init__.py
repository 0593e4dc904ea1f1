"""Reads the emails that an application sends through Pillarbox's local stack, in pytest."""

from pillarbox_testing.http import StackNotRunning
from pillarbox_testing.inbox import Attachment, Delivery, Email, Inbox, NoEmail
from pillarbox_testing.stack import Pillarbox, Smtp

__all__ = [
    "Attachment",
    "Delivery",
    "Email",
    "Inbox",
    "NoEmail",
    "Pillarbox",
    "Smtp",
    "StackNotRunning",
]
