"""Render the body of an email to HTML."""

from pillarbox.domain.mail import HtmlBody, RenderedBody, SavedBody, StarterBody
from pillarbox.rendering.engine import Branding, render_saved, render_starter


def render(body: RenderedBody) -> str:
    """Render a body to HTML.

    Raises:
        ValidationFailed: the result is too large, or a value is missing.
    """
    match body:
        case StarterBody():
            branding = Branding(
                body.brand_name,
                body.logo_url,
                body.attribution,
                is_test=body.is_test,
                accent=body.accent,
                date=body.date,
            )
            return render_starter(body.slug, body.values, branding)
        case SavedBody():
            return render_saved(body.source, body.values)
        case HtmlBody():
            return body.html
