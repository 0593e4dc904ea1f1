"""Receive webhooks: check the signature, drop repetitions, answer, then work."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

WEBHOOK = Webhook(os.environ["WEBHOOK_SECRET"])
SEEN: set[str] = set()  # in production a table with the webhook-id as its unique key


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = WEBHOOK.verify(body, dict(self.headers))
        except WebhookVerificationError:
            return self.answer(400)
        webhook_id = self.headers["webhook-id"]
        if webhook_id not in SEEN:
            SEEN.add(webhook_id)
            handle(event)
        return self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()


def handle(event: dict[str, Any]) -> None:
    data = event["data"]
    print(event["type"], data.get("messageId"), data.get("recipient"), flush=True)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
