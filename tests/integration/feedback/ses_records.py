"""The event records that SES documents, each made of what they share and what is its own."""

from typing import Any, Final

type Record = dict[str, Any]

ADDRESS: Final = "ann@example.com"
_SENDER: Final = "Shop <post@sender.example>"
_PROVIDER_MESSAGE_ID: Final = "0100019abcdef012-0a1b2c3d-1111-2222-3333-444455556666-000000"
_AT: Final = "2026-11-21T00:00:03.137Z"
_RECIPIENT: Final = {"emailAddress": ADDRESS}


def records(account: str, message: str) -> dict[str, Record]:
    mail = _mail(account, message)
    return {
        name: {"eventType": event_type, "mail": mail} | own
        for name, (event_type, own) in _OWN.items()
    }


def _mail(account: str, message: str) -> Record:
    return {
        "timestamp": "2026-11-20T23:59:58.250Z",
        "source": _SENDER,
        "sourceArn": "arn:aws:ses:us-east-1:123456789012:identity/post@sender.example",
        "sendingAccountId": "123456789012",
        "messageId": _PROVIDER_MESSAGE_ID,
        "destination": [ADDRESS],
        "headersTruncated": False,
        "headers": [
            {"name": "From", "value": _SENDER},
            {"name": "To", "value": ADDRESS},
            {"name": "Subject", "value": "Your receipt"},
            {"name": "MIME-Version", "value": "1.0"},
        ],
        "commonHeaders": {
            "from": [_SENDER],
            "to": [ADDRESS],
            "messageId": _PROVIDER_MESSAGE_ID,
            "subject": "Your receipt",
        },
        "tags": {
            "ses:operation": ["SendEmail"],
            "ses:configuration-set": ["pillarbox"],
            "ses:source-ip": ["192.0.2.10"],
            "ses:from-domain": ["sender.example"],
            "ses:caller-identity": ["pillarbox-deliver"],
            "account": [account],
            "message": [message],
            "attempt": ["1"],
        },
    }


#: What SES says of a recipient whose server refused the mail.
_REFUSED: Final = {
    "action": "failed",
    "status": "5.1.1",
    "diagnosticCode": "smtp; 550 5.1.1 user unknown",
}


def _bounce(kind: str, subtype: str, **recipient: str) -> tuple[str, Record]:
    return "Bounce", {
        "bounce": {
            "feedbackId": "0100019abcdf0123-aaaabbbb-cccc-dddd-eeee-ffff00001111-000000",
            "bounceType": kind,
            "bounceSubType": subtype,
            "bouncedRecipients": [_RECIPIENT | recipient],
            "timestamp": _AT,
            "reportingMTA": "dns; mta.example.com",
        }
    }


def _refused(kind: str, subtype: str, **changed: str) -> tuple[str, Record]:
    return _bounce(kind, subtype, **_REFUSED | changed)


def _complaint(feedback_type: str | None = None, subtype: str | None = None) -> tuple[str, Record]:
    complaint: Record = {
        "feedbackId": "0100019abcdf0456-aaaabbbb-cccc-dddd-eeee-ffff00002222-000000",
        "complaintSubType": subtype,
        "complainedRecipients": [_RECIPIENT],
        "timestamp": _AT,
    }
    if feedback_type:
        complaint |= {
            "userAgent": "AnyCompany Feedback Loop (V0.01)",
            "complaintFeedbackType": feedback_type,
            "arrivalDate": "2026-11-21T00:00:02.000Z",
        }
    return "Complaint", {"complaint": complaint}


#: Each record's type and what it has beside the mail.
_OWN: Final[dict[str, tuple[str, Record]]] = {
    "send": ("Send", {"send": {}}),
    "delivery": (
        "Delivery",
        {
            "delivery": {
                "timestamp": _AT,
                "processingTimeMillis": 4887,
                "recipients": [ADDRESS],
                "smtpResponse": "250 2.6.0 Message received",
                "remoteMtaIp": "192.0.2.25",
                "reportingMTA": "a8-51.smtp-out.amazonses.com",
            }
        },
    ),
    "reject": ("Reject", {"reject": {"reason": "Bad content"}}),
    "rendering_failure": (
        "Rendering Failure",
        {
            "failure": {
                "errorMessage": "Attribute 'attributeName' is not present in the rendering data.",
                "templateName": "MyTemplate",
            }
        },
    ),
    "bounce_permanent_general": _refused("Permanent", "General"),
    "bounce_permanent_no_email": _refused("Permanent", "NoEmail"),
    "bounce_permanent_suppressed": _refused(
        "Permanent",
        "Suppressed",
        diagnosticCode="Amazon SES has suppressed sending to this address because it has a recent"
        " history of bouncing as an invalid address.",
    ),
    "bounce_permanent_on_account_suppression_list": _refused(
        "Permanent",
        "OnAccountSuppressionList",
        diagnosticCode="Amazon SES did not send the message to this address because it is on the"
        " suppression list for your account.",
    ),
    "bounce_permanent_on_tenant_suppression_list": _refused("Permanent", "OnTenantSuppressionList"),
    "bounce_permanent_unsubscribed_recipient": _refused("Permanent", "UnsubscribedRecipient"),
    "bounce_transient_general": _bounce("Transient", "General"),
    "bounce_transient_mailbox_full": _refused(
        "Transient",
        "MailboxFull",
        status="4.2.2",
        diagnosticCode="smtp; 452 4.2.2 mailbox full",
    ),
    "bounce_transient_message_too_large": _refused(
        "Transient", "MessageTooLarge", status="5.3.4", diagnosticCode="smtp; 552 5.3.4 Too big"
    ),
    "bounce_transient_custom_timeout_exceeded": _refused("Transient", "CustomTimeoutExceeded"),
    "bounce_transient_content_rejected": _refused(
        "Transient",
        "ContentRejected",
        status="5.0.0",
        diagnosticCode="smtp; 554 5.7.1 Message scored as spam",
    ),
    "bounce_transient_attachment_rejected": _refused(
        "Transient", "AttachmentRejected", status="5.0.0", diagnosticCode="smtp; 554 refused"
    ),
    "bounce_undetermined": _bounce("Undetermined", "Undetermined"),
    "complaint_abuse": _complaint("abuse"),
    "complaint_not_spam": _complaint("not-spam"),
    "complaint_auth_failure": _complaint("auth-failure"),
    "complaint_without_feedback": _complaint(),
    "complaint_on_account_suppression_list": _complaint(subtype="OnAccountSuppressionList"),
    "delivery_delay": (
        "DeliveryDelay",
        {
            "deliveryDelay": {
                "timestamp": _AT,
                "delayType": "TransientCommunicationFailure",
                "expirationTime": "2026-11-21T13:59:58.250Z",
                "delayedRecipients": [
                    _RECIPIENT
                    | {
                        "status": "4.4.1",
                        "diagnosticCode": "smtp; 421 4.4.1 Unable to connect to remote host",
                    }
                ],
            }
        },
    ),
    "open": (
        "Open",
        {"open": {"ipAddress": "192.0.2.1", "timestamp": _AT, "userAgent": "Mozilla/5.0"}},
    ),
    "click": (
        "Click",
        {
            "click": {
                "ipAddress": "192.0.2.1",
                "link": "https://shop.example/",
                "linkTags": None,
                "timestamp": _AT,
                "userAgent": "Mozilla/5.0",
            }
        },
    ),
    "subscription": (
        "Subscription",
        {
            "subscription": {
                "contactList": "list",
                "timestamp": _AT,
                "source": "UnsubscribeHeader",
                "newTopicPreferences": {"unsubscribeAll": True, "topicSubscriptionStatus": []},
                "oldTopicPreferences": {"unsubscribeAll": False, "topicSubscriptionStatus": []},
            }
        },
    ),
}
