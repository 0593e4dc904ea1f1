"""Check a template when it is saved: only then is the template engine imported."""

from pillarbox.rendering.saved import TemplateVariables


def check_template(subject: str, html: str, text: str | None = None) -> TemplateVariables:
    """Check that a template contains only what is allowed, and return its variables.

    The body may contain `{{ path }}`, the filters capitalize, default, lower, trim
    and upper, `if`, and `for` that is not nested. Subject and text part may contain only
    plain references.

    Raises:
        ValidationFailed: on `subject`, `html` or `text`, with the code `template_syntax`,
            `not_allowed` or `too_large`.
    """
    from pillarbox.rendering.allowlist import check  # noqa: PLC0415  imports jinja2

    return check(subject, html, text)
