"""A method for each operation of the API."""

# Written by `make openapi` from docs/openapi-keys.json.
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
    ) -> types.MessagePage:
        """List messages: `GET /v1/emails`."""
        result: types.MessagePage = self._send(
            Request(
                "GET",
                "/v1/emails",
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
                },
            )
        )
        return result

    def send_email(
        self, body: types.SendEmailRequest, *, idempotency_key: str | None = None
    ) -> types.SendResult:
        """Send an email: `POST /v1/emails`."""
        result: types.SendResult = self._send(
            Request(
                "POST",
                "/v1/emails",
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
        """Get analytics: `GET /v1/emails/analytics`."""
        result: types.Analytics = self._send(
            Request(
                "GET",
                "/v1/emails/analytics",
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
        """Send a batch: `POST /v1/emails/batch`."""
        result: types.BatchResult = self._send(
            Request(
                "POST",
                "/v1/emails/batch",
                body=body,
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )
        return result

    def get_message(self, message_id: str) -> types.MessageDetail:
        """Get a message: `GET /v1/emails/{message_id}`."""
        result: types.MessageDetail = self._send(
            Request("GET", f"/v1/emails/{segment(message_id)}")
        )
        return result

    def get_me(self) -> types.CallerDetail:
        """Get the API key of the request: `GET /v1/me`."""
        result: types.CallerDetail = self._send(Request("GET", "/v1/me"))
        return result

    def list_starter_templates(self) -> list[types.StarterTemplate]:
        """List starter templates: `GET /v1/starter-templates`."""
        result: list[types.StarterTemplate] = self._send(Request("GET", "/v1/starter-templates"))
        return result

    def preview_starter_template(
        self, slug: types.StarterSlug, body: types.RenderStarterRequest | None = None
    ) -> types.StarterPreview:
        """Preview a starter template: `POST /v1/starter-templates/{slug}/preview`."""
        result: types.StarterPreview = self._send(
            Request("POST", f"/v1/starter-templates/{segment(slug)}/preview", body=body)
        )
        return result

    def list_templates(
        self, *, skip: int | None = None, limit: int | None = None
    ) -> types.SavedTemplatePage:
        """List saved templates: `GET /v1/templates`."""
        result: types.SavedTemplatePage = self._send(
            Request("GET", "/v1/templates", query={"skip": skip, "limit": limit})
        )
        return result

    def get_template(self, id: str) -> types.SavedTemplateDetail:
        """Get a saved template: `GET /v1/templates/{id}`."""
        result: types.SavedTemplateDetail = self._send(
            Request("GET", f"/v1/templates/{segment(id)}")
        )
        return result

    def delete_template(self, id: str) -> None:
        """Delete a saved template: `DELETE /v1/templates/{id}`."""
        self._send(Request("DELETE", f"/v1/templates/{segment(id)}"))

    def list_webhooks(self) -> types.WebhookList:
        """List webhook endpoints: `GET /v1/webhooks`."""
        result: types.WebhookList = self._send(Request("GET", "/v1/webhooks"))
        return result

    def create_webhook(self, body: types.CreateWebhookRequest) -> types.WebhookWithSecret:
        """Create a webhook endpoint: `POST /v1/webhooks`."""
        result: types.WebhookWithSecret = self._send(Request("POST", "/v1/webhooks", body=body))
        return result

    def get_webhook(self, endpoint_id: str) -> types.Webhook:
        """Get a webhook endpoint: `GET /v1/webhooks/{endpoint_id}`."""
        result: types.Webhook = self._send(Request("GET", f"/v1/webhooks/{segment(endpoint_id)}"))
        return result

    def change_webhook(self, endpoint_id: str, body: types.ChangeWebhookRequest) -> types.Webhook:
        """Change a webhook endpoint: `PATCH /v1/webhooks/{endpoint_id}`."""
        result: types.Webhook = self._send(
            Request("PATCH", f"/v1/webhooks/{segment(endpoint_id)}", body=body)
        )
        return result

    def delete_webhook(self, endpoint_id: str) -> None:
        """Delete a webhook endpoint: `DELETE /v1/webhooks/{endpoint_id}`."""
        self._send(Request("DELETE", f"/v1/webhooks/{segment(endpoint_id)}"))

    def rotate_webhook_secret(self, endpoint_id: str) -> types.WebhookWithSecret:
        """Rotate the secret: `POST /v1/webhooks/{endpoint_id}/rotate`."""
        result: types.WebhookWithSecret = self._send(
            Request("POST", f"/v1/webhooks/{segment(endpoint_id)}/rotate")
        )
        return result

    def test_webhook(self, endpoint_id: str) -> types.QueuedWebhookEvent:
        """Test a webhook endpoint: `POST /v1/webhooks/{endpoint_id}/test`."""
        result: types.QueuedWebhookEvent = self._send(
            Request("POST", f"/v1/webhooks/{segment(endpoint_id)}/test")
        )
        return result

    def list_webhook_deliveries(
        self, endpoint_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> types.WebhookDeliveryPage:
        """List deliveries: `GET /v1/webhooks/{endpoint_id}/deliveries`."""
        result: types.WebhookDeliveryPage = self._send(
            Request(
                "GET",
                f"/v1/webhooks/{segment(endpoint_id)}/deliveries",
                query={"limit": limit, "cursor": cursor},
            )
        )
        return result

    def replay_webhook_delivery(
        self, endpoint_id: str, delivery_id: str
    ) -> types.QueuedWebhookEvent:
        """Replay a delivery: `POST /v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/replay`."""
        result: types.QueuedWebhookEvent = self._send(
            Request(
                "POST",
                f"/v1/webhooks/{segment(endpoint_id)}/deliveries/{segment(delivery_id)}/replay",
            )
        )
        return result

    def replay_webhook_events(
        self, endpoint_id: str, body: types.ReplayWebhookRequest
    ) -> types.WebhookReplay:
        """Replay a time range: `POST /v1/webhooks/{endpoint_id}/replay`."""
        result: types.WebhookReplay = self._send(
            Request("POST", f"/v1/webhooks/{segment(endpoint_id)}/replay", body=body)
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
    ) -> types.MessagePage:
        """List messages: `GET /v1/emails`."""
        result: types.MessagePage = await self._send(
            Request(
                "GET",
                "/v1/emails",
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
                },
            )
        )
        return result

    async def send_email(
        self, body: types.SendEmailRequest, *, idempotency_key: str | None = None
    ) -> types.SendResult:
        """Send an email: `POST /v1/emails`."""
        result: types.SendResult = await self._send(
            Request(
                "POST",
                "/v1/emails",
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
        """Get analytics: `GET /v1/emails/analytics`."""
        result: types.Analytics = await self._send(
            Request(
                "GET",
                "/v1/emails/analytics",
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
        """Send a batch: `POST /v1/emails/batch`."""
        result: types.BatchResult = await self._send(
            Request(
                "POST",
                "/v1/emails/batch",
                body=body,
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )
        return result

    async def get_message(self, message_id: str) -> types.MessageDetail:
        """Get a message: `GET /v1/emails/{message_id}`."""
        result: types.MessageDetail = await self._send(
            Request("GET", f"/v1/emails/{segment(message_id)}")
        )
        return result

    async def get_me(self) -> types.CallerDetail:
        """Get the API key of the request: `GET /v1/me`."""
        result: types.CallerDetail = await self._send(Request("GET", "/v1/me"))
        return result

    async def list_starter_templates(self) -> list[types.StarterTemplate]:
        """List starter templates: `GET /v1/starter-templates`."""
        result: list[types.StarterTemplate] = await self._send(
            Request("GET", "/v1/starter-templates")
        )
        return result

    async def preview_starter_template(
        self, slug: types.StarterSlug, body: types.RenderStarterRequest | None = None
    ) -> types.StarterPreview:
        """Preview a starter template: `POST /v1/starter-templates/{slug}/preview`."""
        result: types.StarterPreview = await self._send(
            Request("POST", f"/v1/starter-templates/{segment(slug)}/preview", body=body)
        )
        return result

    async def list_templates(
        self, *, skip: int | None = None, limit: int | None = None
    ) -> types.SavedTemplatePage:
        """List saved templates: `GET /v1/templates`."""
        result: types.SavedTemplatePage = await self._send(
            Request("GET", "/v1/templates", query={"skip": skip, "limit": limit})
        )
        return result

    async def get_template(self, id: str) -> types.SavedTemplateDetail:
        """Get a saved template: `GET /v1/templates/{id}`."""
        result: types.SavedTemplateDetail = await self._send(
            Request("GET", f"/v1/templates/{segment(id)}")
        )
        return result

    async def delete_template(self, id: str) -> None:
        """Delete a saved template: `DELETE /v1/templates/{id}`."""
        await self._send(Request("DELETE", f"/v1/templates/{segment(id)}"))

    async def list_webhooks(self) -> types.WebhookList:
        """List webhook endpoints: `GET /v1/webhooks`."""
        result: types.WebhookList = await self._send(Request("GET", "/v1/webhooks"))
        return result

    async def create_webhook(self, body: types.CreateWebhookRequest) -> types.WebhookWithSecret:
        """Create a webhook endpoint: `POST /v1/webhooks`."""
        result: types.WebhookWithSecret = await self._send(
            Request("POST", "/v1/webhooks", body=body)
        )
        return result

    async def get_webhook(self, endpoint_id: str) -> types.Webhook:
        """Get a webhook endpoint: `GET /v1/webhooks/{endpoint_id}`."""
        result: types.Webhook = await self._send(
            Request("GET", f"/v1/webhooks/{segment(endpoint_id)}")
        )
        return result

    async def change_webhook(
        self, endpoint_id: str, body: types.ChangeWebhookRequest
    ) -> types.Webhook:
        """Change a webhook endpoint: `PATCH /v1/webhooks/{endpoint_id}`."""
        result: types.Webhook = await self._send(
            Request("PATCH", f"/v1/webhooks/{segment(endpoint_id)}", body=body)
        )
        return result

    async def delete_webhook(self, endpoint_id: str) -> None:
        """Delete a webhook endpoint: `DELETE /v1/webhooks/{endpoint_id}`."""
        await self._send(Request("DELETE", f"/v1/webhooks/{segment(endpoint_id)}"))

    async def rotate_webhook_secret(self, endpoint_id: str) -> types.WebhookWithSecret:
        """Rotate the secret: `POST /v1/webhooks/{endpoint_id}/rotate`."""
        result: types.WebhookWithSecret = await self._send(
            Request("POST", f"/v1/webhooks/{segment(endpoint_id)}/rotate")
        )
        return result

    async def test_webhook(self, endpoint_id: str) -> types.QueuedWebhookEvent:
        """Test a webhook endpoint: `POST /v1/webhooks/{endpoint_id}/test`."""
        result: types.QueuedWebhookEvent = await self._send(
            Request("POST", f"/v1/webhooks/{segment(endpoint_id)}/test")
        )
        return result

    async def list_webhook_deliveries(
        self, endpoint_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> types.WebhookDeliveryPage:
        """List deliveries: `GET /v1/webhooks/{endpoint_id}/deliveries`."""
        result: types.WebhookDeliveryPage = await self._send(
            Request(
                "GET",
                f"/v1/webhooks/{segment(endpoint_id)}/deliveries",
                query={"limit": limit, "cursor": cursor},
            )
        )
        return result

    async def replay_webhook_delivery(
        self, endpoint_id: str, delivery_id: str
    ) -> types.QueuedWebhookEvent:
        """Replay a delivery: `POST /v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/replay`."""
        result: types.QueuedWebhookEvent = await self._send(
            Request(
                "POST",
                f"/v1/webhooks/{segment(endpoint_id)}/deliveries/{segment(delivery_id)}/replay",
            )
        )
        return result

    async def replay_webhook_events(
        self, endpoint_id: str, body: types.ReplayWebhookRequest
    ) -> types.WebhookReplay:
        """Replay a time range: `POST /v1/webhooks/{endpoint_id}/replay`."""
        result: types.WebhookReplay = await self._send(
            Request("POST", f"/v1/webhooks/{segment(endpoint_id)}/replay", body=body)
        )
        return result
