"""Render the body of an email to HTML."""

from datetime import datetime

from pillarbox.domain.messages.mail import HtmlBody, RenderedBody, SavedBody, StarterBody
from pillarbox.rendering import sandbox
from pillarbox.rendering.saved import RequestFuel
from pillarbox.rendering.text import text_from_html


def to_text(html: str) -> str:
    """Return the text part that an email with this HTML has."""
    return text_from_html(html)


def template_of_codes() -> object:
    """Compile the starter template of one-time codes, which somebody waits for; return it."""
    return sandbox.compile_starter("otp")


def render(
    body: RenderedBody,
    request_fuel: RequestFuel | None = None,
    base_url: str = "",
    *,
    sent_at: datetime | None = None,
) -> str:
    """Render a body to HTML.

    Args:
        request_fuel: what the emails of one request share for saved templates.
        base_url: the address of API and dashboard, for the link in test mails.
        sent_at: the time of the send, whose day starter templates show.
    """
    if isinstance(body, HtmlBody):
        return body.html
    match body:
        case StarterBody():
            branding = sandbox.Branding(
                body.brand_name,
                body.logo_url,
                body.attribution,
                is_test=body.is_test,
                accent=body.accent,
                sent_at=sent_at,
                report_url=f"{base_url}/widget/report#{body.report}" if body.report else None,
            )
            return sandbox.render_starter(body.slug, body.values, branding)
        case SavedBody():
            return sandbox.render_saved(body.source, body.values, request_fuel)
