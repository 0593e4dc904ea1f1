# ruff: noqa: T201  its output is what the caller reads
"""Send the bodies of Laravel's mailer `resend` and of postmark-php, octet for octet.

They are what resend-php 1.10 and postmark-php 7 wrote, which only Composer has. PHP has one empty
array, which is a list in JSON, and `json_encode` escapes slashes and what is not ASCII.
"""

import json
import os
from urllib.request import Request, urlopen

_LARAVEL = (
    rb'{"from":"\"Acme\" <hello@shop.example>","to":["laravel@customer.example"],"cc":[],'
    rb'"bcc":[],"reply_to":[],"headers":[],"subject":"Gr\u00fc\u00dfe","html":"<p>x<\/p>",'
    rb'"text":null,"attachments":[{"content_type":"text\/calendar","content":"BEGIN:VCALENDAR\r\n'
    rb'METHOD:REQUEST\r\nEND:VCALENDAR\r\n","filename":"invite.ics"},{"content_type":'
    rb'"application\/pdf","content":"JVBERi0xLjc=","filename":"a.pdf"}]}'
)
_POSTMARK = (
    rb'{"From":"hello@shop.example","To":"postmark-php@customer.example","Subject":"Welcome",'
    rb'"HtmlBody":"<p>x<\/p>","Headers":[{"Name":"X-A","Value":"1"}],"Attachments":[{"Name":'
    rb'"invoice.pdf","Content":"JVBERi0xLjQ=","ContentType":"application\/pdf","ContentId":'
    rb'"invoice.pdf"}]}'
)


def main() -> None:
    """Send both, and say what must arrive."""
    resend = {"Authorization": f"Bearer {os.environ['RESEND_API_KEY']}"}
    postmark = {"X-Postmark-Server-Token": os.environ["POSTMARK_KEY"]}
    _post(f"{os.environ['RESEND_BASE_URL']}/emails", _LARAVEL, resend)
    _post(f"http://{os.environ['POSTMARK_HOST']}/email", _POSTMARK, postmark)
    results = {
        "Laravel's transport: what arrives": {
            "to": "laravel@customer.example",
            "has": [
                'From: "Acme" <hello@shop.example>',
                "Content-Type: text/calendar; charset=utf-8; method=REQUEST",
                'attachment; filename="invite.ics"',
                'attachment; filename="a.pdf"',
            ],
        },
        "postmark-php: what arrives": {
            "to": "postmark-php@customer.example",
            "has": ['attachment; filename="invoice.pdf"'],
        },
    }
    print(json.dumps(results))


def _post(url: str, body: bytes, headers: dict[str, str]) -> None:
    own = {"Content-Type": "application/json", "User-Agent": "GuzzleHttp/7"}
    with urlopen(Request(url, body, headers | own), timeout=60) as response:  # noqa: S310  local
        response.read()


if __name__ == "__main__":
    main()
