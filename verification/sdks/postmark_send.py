# ruff: noqa: T201  its output is what the caller reads
"""Send with Postmark's SDK for Python; print what it did as JSON."""

import asyncio
import json
import os

import postmark
from postmark.exceptions import InvalidAPIKeyException, PostmarkException, ValidationException

_EMAIL = {
    "From": "hello@shop.example",
    "To": "ada@customer.example",
    "Subject": "Hello",
    "HtmlBody": "<p>Hello</p>",
}


async def main() -> None:
    """Send one email, a batch and a template, and fail with a wrong field and a wrong key."""
    base_url = f"http://{os.environ['POSTMARK_HOST']}"
    key = os.environ["POSTMARK_KEY"]
    async with postmark.ServerClient(key, base_url=base_url) as client:
        sent = await client.outbound.send(_EMAIL)
        batch = await client.outbound.send_batch([_EMAIL, _EMAIL | {"Subject": "second"}])
        templated = await client.outbound.send_with_template(
            {
                **{name: _EMAIL[name] for name in ("From", "To")},
                "TemplateAlias": "otp",
                "TemplateModel": {"otp_code": "1"},
            }
        )
        refused = await _error(client.outbound.send(_EMAIL | {"TrackOpens": True}))
    async with postmark.ServerClient("bx_live_wrong", base_url=base_url) as client:
        wrong = await _error(client.outbound.send(_EMAIL))
    print(
        json.dumps(
            {
                f"postmark {postmark.__version__} sends": len(sent.message_id) == 36,
                "a batch of two": [one.success for one in batch] == [True, True],
                "a template by its alias": templated.success,
                "a refused field by name": isinstance(refused, ValidationException)
                and "`TrackOpens`" in refused.message,
                "a wrong key": isinstance(wrong, InvalidAPIKeyException),
            }
        )
    )


async def _error(sending: object) -> PostmarkException | None:
    try:
        await sending  # type: ignore[misc]
    except PostmarkException as error:
        return error
    return None


if __name__ == "__main__":
    asyncio.run(main())
