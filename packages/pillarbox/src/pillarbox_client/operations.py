"""A method for each operation of the API."""

# Written by `make openapi` from docs/openapi.json.
# ruff: noqa: A002, ANN401, PLR0913  a method has the parameters of its operation

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from pillarbox_client import types

from pillarbox_client.request import Request, new_idempotency_key, segment


class Operations:
    """The operations that an API key may call."""

    def _send(self, made: Request) -> Any:
        raise NotImplementedError

    def list_messages(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        status: types.Status | None = None,
        skip: int | None = None,
        limit: int | None = None,
        sort_by: types.SortBy | None = None,
        recipient: str | None = None,
        tag: str | None = None,
        key_id: str | None = None,
        template: str | None = None,
        error: str | None = None,
    ) -> types.MessagePage:
        """List messages: `GET /api/v1/emails`."""
        result: types.MessagePage = self._send(
            Request(
                "GET",
                "/api/v1/emails",
                query={
                    "from": from_,
                    "to": to,
                    "status": status,
                    "skip": skip,
                    "limit": limit,
                    "sortBy": sort_by,
                    "recipient": recipient,
                    "tag": tag,
                    "keyId": key_id,
                    "template": template,
                    "error": error,
                },
            )
        )
        return result

    def send_email(
        self, body: types.SendEmailRequest, *, idempotency_key: str | None = None
    ) -> types.SendResult:
        """Send an email: `POST /api/v1/emails`."""
        result: types.SendResult = self._send(
            Request(
                "POST",
                "/api/v1/emails",
                body=body,
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )
        return result

    def get_analytics(
        self,
        *,
        from_: str | None = None,
        bucket: types.Bucket | None = None,
        key_id: str | None = None,
        template: str | None = None,
        to: str | None = None,
    ) -> types.Analytics:
        """Get analytics: `GET /api/v1/emails/analytics`."""
        result: types.Analytics = self._send(
            Request(
                "GET",
                "/api/v1/emails/analytics",
                query={
                    "from": from_,
                    "bucket": bucket,
                    "keyId": key_id,
                    "template": template,
                    "to": to,
                },
            )
        )
        return result

    def send_batch(
        self, body: types.SendBatchRequest, *, idempotency_key: str | None = None
    ) -> types.BatchResult:
        """Send a batch: `POST /api/v1/emails/batch`."""
        result: types.BatchResult = self._send(
            Request(
                "POST",
                "/api/v1/emails/batch",
                body=body,
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )
        return result

    def create_attachment(self, body: types.UploadRequest) -> types.UploadDetail:
        """Upload an attachment: `POST /api/v1/attachments`."""
        result: types.UploadDetail = self._send(Request("POST", "/api/v1/attachments", body=body))
        return result

    def get_message(self, message_id: str) -> types.MessageDetail:
        """Get a message: `GET /api/v1/emails/{message_id}`."""
        result: types.MessageDetail = self._send(
            Request("GET", f"/api/v1/emails/{segment(message_id)}")
        )
        return result

    def reschedule_message(
        self, message_id: str, body: types.RescheduleRequest
    ) -> types.MessageDetail:
        """Reschedule a message: `PATCH /api/v1/emails/{message_id}`."""
        result: types.MessageDetail = self._send(
            Request("PATCH", f"/api/v1/emails/{segment(message_id)}", body=body)
        )
        return result

    def cancel_message(self, message_id: str) -> types.MessageDetail:
        """Cancel a message: `POST /api/v1/emails/{message_id}/cancel`."""
        result: types.MessageDetail = self._send(
            Request("POST", f"/api/v1/emails/{segment(message_id)}/cancel")
        )
        return result

    def release_message(self, message_id: str) -> types.MessageDetail:
        """Release a held message: `POST /api/v1/emails/{message_id}/release`."""
        result: types.MessageDetail = self._send(
            Request("POST", f"/api/v1/emails/{segment(message_id)}/release")
        )
        return result

    def resend_message(
        self,
        message_id: str,
        body: types.ResendRequest | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> types.SendResult:
        """Send a message again: `POST /api/v1/emails/{message_id}/resend`."""
        result: types.SendResult = self._send(
            Request(
                "POST",
                f"/api/v1/emails/{segment(message_id)}/resend",
                body=body,
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )
        return result

    def get_kept_content(self, message_id: str) -> types.MessageContent:
        """Read the content of a message: `GET /api/v1/emails/{message_id}/kept`."""
        result: types.MessageContent = self._send(
            Request("GET", f"/api/v1/emails/{segment(message_id)}/kept")
        )
        return result

    def list_received(
        self, *, limit: int | None = None, cursor: str | None = None, in_reply_to: str | None = None
    ) -> types.ReceivedMailPage:
        """List received mail: `GET /api/v1/received`."""
        result: types.ReceivedMailPage = self._send(
            Request(
                "GET",
                "/api/v1/received",
                query={"limit": limit, "cursor": cursor, "inReplyTo": in_reply_to},
            )
        )
        return result

    def get_received(
        self, received_id: str, *, inline_images: bool | None = None
    ) -> types.ReceivedDetail:
        """Get a received mail: `GET /api/v1/received/{received_id}`."""
        result: types.ReceivedDetail = self._send(
            Request(
                "GET",
                f"/api/v1/received/{segment(received_id)}",
                query={"inlineImages": inline_images},
            )
        )
        return result

    def answer_received(
        self, received_id: str, body: types.AnswerRequest, *, idempotency_key: str | None = None
    ) -> types.SendResult:
        """Answer a received mail: `POST /api/v1/received/{received_id}/reply`."""
        result: types.SendResult = self._send(
            Request(
                "POST",
                f"/api/v1/received/{segment(received_id)}/reply",
                body=body,
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )
        return result

    def get_me(self) -> types.CallerDetail:
        """Get the API key of the request: `GET /api/v1/me`."""
        result: types.CallerDetail = self._send(Request("GET", "/api/v1/me"))
        return result

    def list_starter_templates(self) -> list[types.StarterTemplate]:
        """List starter templates: `GET /api/v1/starter-templates`."""
        result: list[types.StarterTemplate] = self._send(
            Request("GET", "/api/v1/starter-templates")
        )
        return result

    def preview_starter_template(
        self, slug: types.StarterSlug, body: types.RenderStarterRequest | None = None
    ) -> types.StarterPreview:
        """Preview a starter template: `POST /api/v1/starter-templates/{slug}/preview`."""
        result: types.StarterPreview = self._send(
            Request("POST", f"/api/v1/starter-templates/{segment(slug)}/preview", body=body)
        )
        return result

    def list_templates(
        self, *, skip: int | None = None, limit: int | None = None
    ) -> types.SavedTemplatePage:
        """List saved templates: `GET /api/v1/templates`."""
        result: types.SavedTemplatePage = self._send(
            Request("GET", "/api/v1/templates", query={"skip": skip, "limit": limit})
        )
        return result

    def create_template(self, body: types.CreateTemplateRequest) -> types.TemplateDraft:
        """Begin a template: `POST /api/v1/templates`."""
        result: types.TemplateDraft = self._send(Request("POST", "/api/v1/templates", body=body))
        return result

    def get_template(self, id: str) -> types.SavedTemplateDetail:
        """Get a saved template: `GET /api/v1/templates/{id}`."""
        result: types.SavedTemplateDetail = self._send(
            Request("GET", f"/api/v1/templates/{segment(id)}")
        )
        return result

    def delete_template(self, id: str) -> None:
        """Delete a saved template: `DELETE /api/v1/templates/{id}`."""
        self._send(Request("DELETE", f"/api/v1/templates/{segment(id)}"))

    def list_domains(self) -> types.DomainList:
        """List domains: `GET /api/v1/domains`."""
        result: types.DomainList = self._send(Request("GET", "/api/v1/domains"))
        return result

    def add_domain(self, body: types.AddDomainRequest) -> types.Domain:
        """Add a domain: `POST /api/v1/domains`."""
        result: types.Domain = self._send(Request("POST", "/api/v1/domains", body=body))
        return result

    def get_domain(self, domain: str) -> types.DomainDetail:
        """Get a domain: `GET /api/v1/domains/{domain}`."""
        result: types.DomainDetail = self._send(
            Request("GET", f"/api/v1/domains/{segment(domain)}")
        )
        return result

    def restart_domain(self, domain: str) -> types.DomainDetail:
        """Check a failed domain again: `POST /api/v1/domains/{domain}`."""
        result: types.DomainDetail = self._send(
            Request("POST", f"/api/v1/domains/{segment(domain)}")
        )
        return result

    def change_domain(self, domain: str, body: types.ChangeDomainRequest) -> types.DomainDetail:
        """Receive mail at a domain: `PATCH /api/v1/domains/{domain}`."""
        result: types.DomainDetail = self._send(
            Request("PATCH", f"/api/v1/domains/{segment(domain)}", body=body)
        )
        return result

    def remove_domain(self, domain: str) -> None:
        """Remove a domain: `DELETE /api/v1/domains/{domain}`."""
        self._send(Request("DELETE", f"/api/v1/domains/{segment(domain)}"))

    def share_domain(self, domain: str) -> types.DomainLinkItem:
        """Create a link to the DNS records: `POST /api/v1/domains/{domain}/link`."""
        result: types.DomainLinkItem = self._send(
            Request("POST", f"/api/v1/domains/{segment(domain)}/link")
        )
        return result

    def end_domain_link(self, domain: str) -> None:
        """End the link to the DNS records: `DELETE /api/v1/domains/{domain}/link`."""
        self._send(Request("DELETE", f"/api/v1/domains/{segment(domain)}/link"))

    def list_senders(self) -> types.SenderList:
        """List senders: `GET /api/v1/senders`."""
        result: types.SenderList = self._send(Request("GET", "/api/v1/senders"))
        return result

    def add_sender(self, body: types.AddSenderRequest) -> types.Sender:
        """Add a sender: `POST /api/v1/senders`."""
        result: types.Sender = self._send(Request("POST", "/api/v1/senders", body=body))
        return result

    def set_default_sender(self, sender: str) -> types.Sender:
        """Set the default sender: `PUT /api/v1/senders/{sender}/default`."""
        result: types.Sender = self._send(
            Request("PUT", f"/api/v1/senders/{segment(sender)}/default")
        )
        return result

    def remove_sender(self, sender: str) -> None:
        """Remove a sender: `DELETE /api/v1/senders/{sender}`."""
        self._send(Request("DELETE", f"/api/v1/senders/{segment(sender)}"))

    def render_template(self, body: types.RenderTemplateRequest) -> types.RenderedTemplate:
        """Preview a source: `POST /api/v1/templates/render`."""
        result: types.RenderedTemplate = self._send(
            Request("POST", "/api/v1/templates/render", body=body)
        )
        return result

    def list_drafts(self) -> types.TemplateDraftList:
        """List drafts: `GET /api/v1/templates/drafts`."""
        result: types.TemplateDraftList = self._send(Request("GET", "/api/v1/templates/drafts"))
        return result

    def get_draft(self, id: str) -> types.TemplateDraft:
        """Get a draft: `GET /api/v1/templates/{id}/draft`."""
        result: types.TemplateDraft = self._send(
            Request("GET", f"/api/v1/templates/{segment(id)}/draft")
        )
        return result

    def save_draft(self, id: str, body: types.SaveDraftRequest) -> types.TemplateDraft:
        """Save a draft: `PUT /api/v1/templates/{id}/draft`."""
        result: types.TemplateDraft = self._send(
            Request("PUT", f"/api/v1/templates/{segment(id)}/draft", body=body)
        )
        return result

    def publish_template(self, id: str) -> types.PublishedTemplate:
        """Publish a draft: `POST /api/v1/templates/{id}/publish`."""
        result: types.PublishedTemplate = self._send(
            Request("POST", f"/api/v1/templates/{segment(id)}/publish")
        )
        return result

    def list_versions(
        self, id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> types.TemplateVersionPage:
        """List versions: `GET /api/v1/templates/{id}/versions`."""
        result: types.TemplateVersionPage = self._send(
            Request(
                "GET",
                f"/api/v1/templates/{segment(id)}/versions",
                query={"limit": limit, "cursor": cursor},
            )
        )
        return result

    def get_version(self, id: str, version: int) -> types.TemplateVersion:
        """Get a version: `GET /api/v1/templates/{id}/versions/{version}`."""
        result: types.TemplateVersion = self._send(
            Request("GET", f"/api/v1/templates/{segment(id)}/versions/{segment(version)}")
        )
        return result

    def restore_version(self, id: str, body: types.RestoreVersionRequest) -> types.TemplateDraft:
        """Restore a version: `POST /api/v1/templates/{id}/restore`."""
        result: types.TemplateDraft = self._send(
            Request("POST", f"/api/v1/templates/{segment(id)}/restore", body=body)
        )
        return result

    def duplicate_template(self, id: str) -> types.TemplateDraft:
        """Duplicate a template: `POST /api/v1/templates/{id}/duplicate`."""
        result: types.TemplateDraft = self._send(
            Request("POST", f"/api/v1/templates/{segment(id)}/duplicate")
        )
        return result

    def list_keys(self) -> types.KeyList:
        """List API keys: `GET /api/v1/keys`."""
        result: types.KeyList = self._send(Request("GET", "/api/v1/keys"))
        return result

    def create_key(self, body: types.CreateKeyRequest) -> types.NewKey:
        """Create an API key: `POST /api/v1/keys`."""
        result: types.NewKey = self._send(Request("POST", "/api/v1/keys", body=body))
        return result

    def revoke_key(self, key_id: str) -> None:
        """Revoke an API key: `DELETE /api/v1/keys/{key_id}`."""
        self._send(Request("DELETE", f"/api/v1/keys/{segment(key_id)}"))

    def list_suppressions(
        self, *, search: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> types.SuppressionPage:
        """List suppressions: `GET /api/v1/suppressions`."""
        result: types.SuppressionPage = self._send(
            Request(
                "GET",
                "/api/v1/suppressions",
                query={"search": search, "limit": limit, "cursor": cursor},
            )
        )
        return result

    def add_suppressions(self, body: types.AddSuppressionsRequest) -> types.AddedSuppressions:
        """Add suppressions: `POST /api/v1/suppressions`."""
        result: types.AddedSuppressions = self._send(
            Request("POST", "/api/v1/suppressions", body=body)
        )
        return result

    def remove_suppression(self, address: str) -> None:
        """Remove a suppression: `DELETE /api/v1/suppressions/{address}`."""
        self._send(Request("DELETE", f"/api/v1/suppressions/{segment(address)}"))

    def list_members(self) -> types.MemberList:
        """List members: `GET /api/v1/members`."""
        result: types.MemberList = self._send(Request("GET", "/api/v1/members"))
        return result

    def invite_member(self, body: types.InviteMemberRequest) -> types.Member:
        """Invite a member: `POST /api/v1/members`."""
        result: types.Member = self._send(Request("POST", "/api/v1/members", body=body))
        return result

    def change_member(self, member_id: str, body: types.ChangeMemberRequest) -> types.Member:
        """Change a member's role: `PATCH /api/v1/members/{member_id}`."""
        result: types.Member = self._send(
            Request("PATCH", f"/api/v1/members/{segment(member_id)}", body=body)
        )
        return result

    def remove_member(self, member_id: str) -> None:
        """Remove a member: `DELETE /api/v1/members/{member_id}`."""
        self._send(Request("DELETE", f"/api/v1/members/{segment(member_id)}"))

    def get_account(self) -> types.Account:
        """Get the account: `GET /api/v1/account`."""
        result: types.Account = self._send(Request("GET", "/api/v1/account"))
        return result

    def change_account(self, body: types.ChangeAccountRequest) -> types.Account:
        """Change the account: `PATCH /api/v1/account`."""
        result: types.Account = self._send(Request("PATCH", "/api/v1/account", body=body))
        return result

    def get_alerts(self) -> types.AlertDetail:
        """Get the alerts: `GET /api/v1/account/alerts`."""
        result: types.AlertDetail = self._send(Request("GET", "/api/v1/account/alerts"))
        return result

    def change_alerts(self, body: types.ChangeAlertsRequest) -> types.AlertDetail:
        """Change the alerts: `PATCH /api/v1/account/alerts`."""
        result: types.AlertDetail = self._send(
            Request("PATCH", "/api/v1/account/alerts", body=body)
        )
        return result

    def get_account_log(
        self,
        *,
        part: types.LogPart | None = None,
        key: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.AccountLog:
        """Get the account's log: `GET /api/v1/account/log`."""
        result: types.AccountLog = self._send(
            Request(
                "GET",
                "/api/v1/account/log",
                query={"part": part, "key": key, "limit": limit, "cursor": cursor},
            )
        )
        return result

    def list_webhooks(self) -> types.WebhookList:
        """List webhook endpoints: `GET /api/v1/webhooks`."""
        result: types.WebhookList = self._send(Request("GET", "/api/v1/webhooks"))
        return result

    def create_webhook(self, body: types.CreateWebhookRequest) -> types.WebhookWithSecret:
        """Create a webhook endpoint: `POST /api/v1/webhooks`."""
        result: types.WebhookWithSecret = self._send(Request("POST", "/api/v1/webhooks", body=body))
        return result

    def get_webhook(self, endpoint_id: str) -> types.Webhook:
        """Get a webhook endpoint: `GET /api/v1/webhooks/{endpoint_id}`."""
        result: types.Webhook = self._send(
            Request("GET", f"/api/v1/webhooks/{segment(endpoint_id)}")
        )
        return result

    def change_webhook(self, endpoint_id: str, body: types.ChangeWebhookRequest) -> types.Webhook:
        """Change a webhook endpoint: `PATCH /api/v1/webhooks/{endpoint_id}`."""
        result: types.Webhook = self._send(
            Request("PATCH", f"/api/v1/webhooks/{segment(endpoint_id)}", body=body)
        )
        return result

    def delete_webhook(self, endpoint_id: str) -> None:
        """Delete a webhook endpoint: `DELETE /api/v1/webhooks/{endpoint_id}`."""
        self._send(Request("DELETE", f"/api/v1/webhooks/{segment(endpoint_id)}"))

    def rotate_webhook_secret(self, endpoint_id: str) -> types.WebhookWithSecret:
        """Rotate the secret: `POST /api/v1/webhooks/{endpoint_id}/rotate`."""
        result: types.WebhookWithSecret = self._send(
            Request("POST", f"/api/v1/webhooks/{segment(endpoint_id)}/rotate")
        )
        return result

    def test_webhook(self, endpoint_id: str) -> types.QueuedWebhookEvent:
        """Test a webhook endpoint: `POST /api/v1/webhooks/{endpoint_id}/test`."""
        result: types.QueuedWebhookEvent = self._send(
            Request("POST", f"/api/v1/webhooks/{segment(endpoint_id)}/test")
        )
        return result

    def list_webhook_deliveries(
        self, endpoint_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> types.WebhookDeliveryPage:
        """List deliveries: `GET /api/v1/webhooks/{endpoint_id}/deliveries`."""
        result: types.WebhookDeliveryPage = self._send(
            Request(
                "GET",
                f"/api/v1/webhooks/{segment(endpoint_id)}/deliveries",
                query={"limit": limit, "cursor": cursor},
            )
        )
        return result

    def replay_webhook_delivery(
        self, endpoint_id: str, delivery_id: str
    ) -> types.QueuedWebhookEvent:
        """Replay a delivery: `POST /api/v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/replay`."""
        result: types.QueuedWebhookEvent = self._send(
            Request(
                "POST",
                f"/api/v1/webhooks/{segment(endpoint_id)}/deliveries/{segment(delivery_id)}/replay",
            )
        )
        return result

    def replay_webhook_events(
        self, endpoint_id: str, body: types.ReplayWebhookRequest
    ) -> types.WebhookReplay:
        """Replay a time range: `POST /api/v1/webhooks/{endpoint_id}/replay`."""
        result: types.WebhookReplay = self._send(
            Request("POST", f"/api/v1/webhooks/{segment(endpoint_id)}/replay", body=body)
        )
        return result


class AsyncOperations:
    """The operations that an API key may call."""

    def _send(self, made: Request) -> Awaitable[Any]:
        raise NotImplementedError

    async def list_messages(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        status: types.Status | None = None,
        skip: int | None = None,
        limit: int | None = None,
        sort_by: types.SortBy | None = None,
        recipient: str | None = None,
        tag: str | None = None,
        key_id: str | None = None,
        template: str | None = None,
        error: str | None = None,
    ) -> types.MessagePage:
        """List messages: `GET /api/v1/emails`."""
        result: types.MessagePage = await self._send(
            Request(
                "GET",
                "/api/v1/emails",
                query={
                    "from": from_,
                    "to": to,
                    "status": status,
                    "skip": skip,
                    "limit": limit,
                    "sortBy": sort_by,
                    "recipient": recipient,
                    "tag": tag,
                    "keyId": key_id,
                    "template": template,
                    "error": error,
                },
            )
        )
        return result

    async def send_email(
        self, body: types.SendEmailRequest, *, idempotency_key: str | None = None
    ) -> types.SendResult:
        """Send an email: `POST /api/v1/emails`."""
        result: types.SendResult = await self._send(
            Request(
                "POST",
                "/api/v1/emails",
                body=body,
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )
        return result

    async def get_analytics(
        self,
        *,
        from_: str | None = None,
        bucket: types.Bucket | None = None,
        key_id: str | None = None,
        template: str | None = None,
        to: str | None = None,
    ) -> types.Analytics:
        """Get analytics: `GET /api/v1/emails/analytics`."""
        result: types.Analytics = await self._send(
            Request(
                "GET",
                "/api/v1/emails/analytics",
                query={
                    "from": from_,
                    "bucket": bucket,
                    "keyId": key_id,
                    "template": template,
                    "to": to,
                },
            )
        )
        return result

    async def send_batch(
        self, body: types.SendBatchRequest, *, idempotency_key: str | None = None
    ) -> types.BatchResult:
        """Send a batch: `POST /api/v1/emails/batch`."""
        result: types.BatchResult = await self._send(
            Request(
                "POST",
                "/api/v1/emails/batch",
                body=body,
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )
        return result

    async def create_attachment(self, body: types.UploadRequest) -> types.UploadDetail:
        """Upload an attachment: `POST /api/v1/attachments`."""
        result: types.UploadDetail = await self._send(
            Request("POST", "/api/v1/attachments", body=body)
        )
        return result

    async def get_message(self, message_id: str) -> types.MessageDetail:
        """Get a message: `GET /api/v1/emails/{message_id}`."""
        result: types.MessageDetail = await self._send(
            Request("GET", f"/api/v1/emails/{segment(message_id)}")
        )
        return result

    async def reschedule_message(
        self, message_id: str, body: types.RescheduleRequest
    ) -> types.MessageDetail:
        """Reschedule a message: `PATCH /api/v1/emails/{message_id}`."""
        result: types.MessageDetail = await self._send(
            Request("PATCH", f"/api/v1/emails/{segment(message_id)}", body=body)
        )
        return result

    async def cancel_message(self, message_id: str) -> types.MessageDetail:
        """Cancel a message: `POST /api/v1/emails/{message_id}/cancel`."""
        result: types.MessageDetail = await self._send(
            Request("POST", f"/api/v1/emails/{segment(message_id)}/cancel")
        )
        return result

    async def release_message(self, message_id: str) -> types.MessageDetail:
        """Release a held message: `POST /api/v1/emails/{message_id}/release`."""
        result: types.MessageDetail = await self._send(
            Request("POST", f"/api/v1/emails/{segment(message_id)}/release")
        )
        return result

    async def resend_message(
        self,
        message_id: str,
        body: types.ResendRequest | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> types.SendResult:
        """Send a message again: `POST /api/v1/emails/{message_id}/resend`."""
        result: types.SendResult = await self._send(
            Request(
                "POST",
                f"/api/v1/emails/{segment(message_id)}/resend",
                body=body,
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )
        return result

    async def get_kept_content(self, message_id: str) -> types.MessageContent:
        """Read the content of a message: `GET /api/v1/emails/{message_id}/kept`."""
        result: types.MessageContent = await self._send(
            Request("GET", f"/api/v1/emails/{segment(message_id)}/kept")
        )
        return result

    async def list_received(
        self, *, limit: int | None = None, cursor: str | None = None, in_reply_to: str | None = None
    ) -> types.ReceivedMailPage:
        """List received mail: `GET /api/v1/received`."""
        result: types.ReceivedMailPage = await self._send(
            Request(
                "GET",
                "/api/v1/received",
                query={"limit": limit, "cursor": cursor, "inReplyTo": in_reply_to},
            )
        )
        return result

    async def get_received(
        self, received_id: str, *, inline_images: bool | None = None
    ) -> types.ReceivedDetail:
        """Get a received mail: `GET /api/v1/received/{received_id}`."""
        result: types.ReceivedDetail = await self._send(
            Request(
                "GET",
                f"/api/v1/received/{segment(received_id)}",
                query={"inlineImages": inline_images},
            )
        )
        return result

    async def answer_received(
        self, received_id: str, body: types.AnswerRequest, *, idempotency_key: str | None = None
    ) -> types.SendResult:
        """Answer a received mail: `POST /api/v1/received/{received_id}/reply`."""
        result: types.SendResult = await self._send(
            Request(
                "POST",
                f"/api/v1/received/{segment(received_id)}/reply",
                body=body,
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )
        return result

    async def get_me(self) -> types.CallerDetail:
        """Get the API key of the request: `GET /api/v1/me`."""
        result: types.CallerDetail = await self._send(Request("GET", "/api/v1/me"))
        return result

    async def list_starter_templates(self) -> list[types.StarterTemplate]:
        """List starter templates: `GET /api/v1/starter-templates`."""
        result: list[types.StarterTemplate] = await self._send(
            Request("GET", "/api/v1/starter-templates")
        )
        return result

    async def preview_starter_template(
        self, slug: types.StarterSlug, body: types.RenderStarterRequest | None = None
    ) -> types.StarterPreview:
        """Preview a starter template: `POST /api/v1/starter-templates/{slug}/preview`."""
        result: types.StarterPreview = await self._send(
            Request("POST", f"/api/v1/starter-templates/{segment(slug)}/preview", body=body)
        )
        return result

    async def list_templates(
        self, *, skip: int | None = None, limit: int | None = None
    ) -> types.SavedTemplatePage:
        """List saved templates: `GET /api/v1/templates`."""
        result: types.SavedTemplatePage = await self._send(
            Request("GET", "/api/v1/templates", query={"skip": skip, "limit": limit})
        )
        return result

    async def create_template(self, body: types.CreateTemplateRequest) -> types.TemplateDraft:
        """Begin a template: `POST /api/v1/templates`."""
        result: types.TemplateDraft = await self._send(
            Request("POST", "/api/v1/templates", body=body)
        )
        return result

    async def get_template(self, id: str) -> types.SavedTemplateDetail:
        """Get a saved template: `GET /api/v1/templates/{id}`."""
        result: types.SavedTemplateDetail = await self._send(
            Request("GET", f"/api/v1/templates/{segment(id)}")
        )
        return result

    async def delete_template(self, id: str) -> None:
        """Delete a saved template: `DELETE /api/v1/templates/{id}`."""
        await self._send(Request("DELETE", f"/api/v1/templates/{segment(id)}"))

    async def list_domains(self) -> types.DomainList:
        """List domains: `GET /api/v1/domains`."""
        result: types.DomainList = await self._send(Request("GET", "/api/v1/domains"))
        return result

    async def add_domain(self, body: types.AddDomainRequest) -> types.Domain:
        """Add a domain: `POST /api/v1/domains`."""
        result: types.Domain = await self._send(Request("POST", "/api/v1/domains", body=body))
        return result

    async def get_domain(self, domain: str) -> types.DomainDetail:
        """Get a domain: `GET /api/v1/domains/{domain}`."""
        result: types.DomainDetail = await self._send(
            Request("GET", f"/api/v1/domains/{segment(domain)}")
        )
        return result

    async def restart_domain(self, domain: str) -> types.DomainDetail:
        """Check a failed domain again: `POST /api/v1/domains/{domain}`."""
        result: types.DomainDetail = await self._send(
            Request("POST", f"/api/v1/domains/{segment(domain)}")
        )
        return result

    async def change_domain(
        self, domain: str, body: types.ChangeDomainRequest
    ) -> types.DomainDetail:
        """Receive mail at a domain: `PATCH /api/v1/domains/{domain}`."""
        result: types.DomainDetail = await self._send(
            Request("PATCH", f"/api/v1/domains/{segment(domain)}", body=body)
        )
        return result

    async def remove_domain(self, domain: str) -> None:
        """Remove a domain: `DELETE /api/v1/domains/{domain}`."""
        await self._send(Request("DELETE", f"/api/v1/domains/{segment(domain)}"))

    async def share_domain(self, domain: str) -> types.DomainLinkItem:
        """Create a link to the DNS records: `POST /api/v1/domains/{domain}/link`."""
        result: types.DomainLinkItem = await self._send(
            Request("POST", f"/api/v1/domains/{segment(domain)}/link")
        )
        return result

    async def end_domain_link(self, domain: str) -> None:
        """End the link to the DNS records: `DELETE /api/v1/domains/{domain}/link`."""
        await self._send(Request("DELETE", f"/api/v1/domains/{segment(domain)}/link"))

    async def list_senders(self) -> types.SenderList:
        """List senders: `GET /api/v1/senders`."""
        result: types.SenderList = await self._send(Request("GET", "/api/v1/senders"))
        return result

    async def add_sender(self, body: types.AddSenderRequest) -> types.Sender:
        """Add a sender: `POST /api/v1/senders`."""
        result: types.Sender = await self._send(Request("POST", "/api/v1/senders", body=body))
        return result

    async def set_default_sender(self, sender: str) -> types.Sender:
        """Set the default sender: `PUT /api/v1/senders/{sender}/default`."""
        result: types.Sender = await self._send(
            Request("PUT", f"/api/v1/senders/{segment(sender)}/default")
        )
        return result

    async def remove_sender(self, sender: str) -> None:
        """Remove a sender: `DELETE /api/v1/senders/{sender}`."""
        await self._send(Request("DELETE", f"/api/v1/senders/{segment(sender)}"))

    async def render_template(self, body: types.RenderTemplateRequest) -> types.RenderedTemplate:
        """Preview a source: `POST /api/v1/templates/render`."""
        result: types.RenderedTemplate = await self._send(
            Request("POST", "/api/v1/templates/render", body=body)
        )
        return result

    async def list_drafts(self) -> types.TemplateDraftList:
        """List drafts: `GET /api/v1/templates/drafts`."""
        result: types.TemplateDraftList = await self._send(
            Request("GET", "/api/v1/templates/drafts")
        )
        return result

    async def get_draft(self, id: str) -> types.TemplateDraft:
        """Get a draft: `GET /api/v1/templates/{id}/draft`."""
        result: types.TemplateDraft = await self._send(
            Request("GET", f"/api/v1/templates/{segment(id)}/draft")
        )
        return result

    async def save_draft(self, id: str, body: types.SaveDraftRequest) -> types.TemplateDraft:
        """Save a draft: `PUT /api/v1/templates/{id}/draft`."""
        result: types.TemplateDraft = await self._send(
            Request("PUT", f"/api/v1/templates/{segment(id)}/draft", body=body)
        )
        return result

    async def publish_template(self, id: str) -> types.PublishedTemplate:
        """Publish a draft: `POST /api/v1/templates/{id}/publish`."""
        result: types.PublishedTemplate = await self._send(
            Request("POST", f"/api/v1/templates/{segment(id)}/publish")
        )
        return result

    async def list_versions(
        self, id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> types.TemplateVersionPage:
        """List versions: `GET /api/v1/templates/{id}/versions`."""
        result: types.TemplateVersionPage = await self._send(
            Request(
                "GET",
                f"/api/v1/templates/{segment(id)}/versions",
                query={"limit": limit, "cursor": cursor},
            )
        )
        return result

    async def get_version(self, id: str, version: int) -> types.TemplateVersion:
        """Get a version: `GET /api/v1/templates/{id}/versions/{version}`."""
        result: types.TemplateVersion = await self._send(
            Request("GET", f"/api/v1/templates/{segment(id)}/versions/{segment(version)}")
        )
        return result

    async def restore_version(
        self, id: str, body: types.RestoreVersionRequest
    ) -> types.TemplateDraft:
        """Restore a version: `POST /api/v1/templates/{id}/restore`."""
        result: types.TemplateDraft = await self._send(
            Request("POST", f"/api/v1/templates/{segment(id)}/restore", body=body)
        )
        return result

    async def duplicate_template(self, id: str) -> types.TemplateDraft:
        """Duplicate a template: `POST /api/v1/templates/{id}/duplicate`."""
        result: types.TemplateDraft = await self._send(
            Request("POST", f"/api/v1/templates/{segment(id)}/duplicate")
        )
        return result

    async def list_keys(self) -> types.KeyList:
        """List API keys: `GET /api/v1/keys`."""
        result: types.KeyList = await self._send(Request("GET", "/api/v1/keys"))
        return result

    async def create_key(self, body: types.CreateKeyRequest) -> types.NewKey:
        """Create an API key: `POST /api/v1/keys`."""
        result: types.NewKey = await self._send(Request("POST", "/api/v1/keys", body=body))
        return result

    async def revoke_key(self, key_id: str) -> None:
        """Revoke an API key: `DELETE /api/v1/keys/{key_id}`."""
        await self._send(Request("DELETE", f"/api/v1/keys/{segment(key_id)}"))

    async def list_suppressions(
        self, *, search: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> types.SuppressionPage:
        """List suppressions: `GET /api/v1/suppressions`."""
        result: types.SuppressionPage = await self._send(
            Request(
                "GET",
                "/api/v1/suppressions",
                query={"search": search, "limit": limit, "cursor": cursor},
            )
        )
        return result

    async def add_suppressions(self, body: types.AddSuppressionsRequest) -> types.AddedSuppressions:
        """Add suppressions: `POST /api/v1/suppressions`."""
        result: types.AddedSuppressions = await self._send(
            Request("POST", "/api/v1/suppressions", body=body)
        )
        return result

    async def remove_suppression(self, address: str) -> None:
        """Remove a suppression: `DELETE /api/v1/suppressions/{address}`."""
        await self._send(Request("DELETE", f"/api/v1/suppressions/{segment(address)}"))

    async def list_members(self) -> types.MemberList:
        """List members: `GET /api/v1/members`."""
        result: types.MemberList = await self._send(Request("GET", "/api/v1/members"))
        return result

    async def invite_member(self, body: types.InviteMemberRequest) -> types.Member:
        """Invite a member: `POST /api/v1/members`."""
        result: types.Member = await self._send(Request("POST", "/api/v1/members", body=body))
        return result

    async def change_member(self, member_id: str, body: types.ChangeMemberRequest) -> types.Member:
        """Change a member's role: `PATCH /api/v1/members/{member_id}`."""
        result: types.Member = await self._send(
            Request("PATCH", f"/api/v1/members/{segment(member_id)}", body=body)
        )
        return result

    async def remove_member(self, member_id: str) -> None:
        """Remove a member: `DELETE /api/v1/members/{member_id}`."""
        await self._send(Request("DELETE", f"/api/v1/members/{segment(member_id)}"))

    async def get_account(self) -> types.Account:
        """Get the account: `GET /api/v1/account`."""
        result: types.Account = await self._send(Request("GET", "/api/v1/account"))
        return result

    async def change_account(self, body: types.ChangeAccountRequest) -> types.Account:
        """Change the account: `PATCH /api/v1/account`."""
        result: types.Account = await self._send(Request("PATCH", "/api/v1/account", body=body))
        return result

    async def get_alerts(self) -> types.AlertDetail:
        """Get the alerts: `GET /api/v1/account/alerts`."""
        result: types.AlertDetail = await self._send(Request("GET", "/api/v1/account/alerts"))
        return result

    async def change_alerts(self, body: types.ChangeAlertsRequest) -> types.AlertDetail:
        """Change the alerts: `PATCH /api/v1/account/alerts`."""
        result: types.AlertDetail = await self._send(
            Request("PATCH", "/api/v1/account/alerts", body=body)
        )
        return result

    async def get_account_log(
        self,
        *,
        part: types.LogPart | None = None,
        key: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> types.AccountLog:
        """Get the account's log: `GET /api/v1/account/log`."""
        result: types.AccountLog = await self._send(
            Request(
                "GET",
                "/api/v1/account/log",
                query={"part": part, "key": key, "limit": limit, "cursor": cursor},
            )
        )
        return result

    async def list_webhooks(self) -> types.WebhookList:
        """List webhook endpoints: `GET /api/v1/webhooks`."""
        result: types.WebhookList = await self._send(Request("GET", "/api/v1/webhooks"))
        return result

    async def create_webhook(self, body: types.CreateWebhookRequest) -> types.WebhookWithSecret:
        """Create a webhook endpoint: `POST /api/v1/webhooks`."""
        result: types.WebhookWithSecret = await self._send(
            Request("POST", "/api/v1/webhooks", body=body)
        )
        return result

    async def get_webhook(self, endpoint_id: str) -> types.Webhook:
        """Get a webhook endpoint: `GET /api/v1/webhooks/{endpoint_id}`."""
        result: types.Webhook = await self._send(
            Request("GET", f"/api/v1/webhooks/{segment(endpoint_id)}")
        )
        return result

    async def change_webhook(
        self, endpoint_id: str, body: types.ChangeWebhookRequest
    ) -> types.Webhook:
        """Change a webhook endpoint: `PATCH /api/v1/webhooks/{endpoint_id}`."""
        result: types.Webhook = await self._send(
            Request("PATCH", f"/api/v1/webhooks/{segment(endpoint_id)}", body=body)
        )
        return result

    async def delete_webhook(self, endpoint_id: str) -> None:
        """Delete a webhook endpoint: `DELETE /api/v1/webhooks/{endpoint_id}`."""
        await self._send(Request("DELETE", f"/api/v1/webhooks/{segment(endpoint_id)}"))

    async def rotate_webhook_secret(self, endpoint_id: str) -> types.WebhookWithSecret:
        """Rotate the secret: `POST /api/v1/webhooks/{endpoint_id}/rotate`."""
        result: types.WebhookWithSecret = await self._send(
            Request("POST", f"/api/v1/webhooks/{segment(endpoint_id)}/rotate")
        )
        return result

    async def test_webhook(self, endpoint_id: str) -> types.QueuedWebhookEvent:
        """Test a webhook endpoint: `POST /api/v1/webhooks/{endpoint_id}/test`."""
        result: types.QueuedWebhookEvent = await self._send(
            Request("POST", f"/api/v1/webhooks/{segment(endpoint_id)}/test")
        )
        return result

    async def list_webhook_deliveries(
        self, endpoint_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> types.WebhookDeliveryPage:
        """List deliveries: `GET /api/v1/webhooks/{endpoint_id}/deliveries`."""
        result: types.WebhookDeliveryPage = await self._send(
            Request(
                "GET",
                f"/api/v1/webhooks/{segment(endpoint_id)}/deliveries",
                query={"limit": limit, "cursor": cursor},
            )
        )
        return result

    async def replay_webhook_delivery(
        self, endpoint_id: str, delivery_id: str
    ) -> types.QueuedWebhookEvent:
        """Replay a delivery: `POST /api/v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/replay`."""
        result: types.QueuedWebhookEvent = await self._send(
            Request(
                "POST",
                f"/api/v1/webhooks/{segment(endpoint_id)}/deliveries/{segment(delivery_id)}/replay",
            )
        )
        return result

    async def replay_webhook_events(
        self, endpoint_id: str, body: types.ReplayWebhookRequest
    ) -> types.WebhookReplay:
        """Replay a time range: `POST /api/v1/webhooks/{endpoint_id}/replay`."""
        result: types.WebhookReplay = await self._send(
            Request("POST", f"/api/v1/webhooks/{segment(endpoint_id)}/replay", body=body)
        )
        return result
