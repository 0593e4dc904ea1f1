"""The commands `pillarbox template …`."""

from typing import Annotated
from uuid import UUID

import typer

from admin.session import StackSession, connected
from admin.views import template_view
from pillarbox.application.templates.authoring import (
    TemplateAuthoring,
    TemplateChanges,
    TemplateSource,
)
from pillarbox.domain.errors import FieldError, ValidationFailed

app = typer.Typer(no_args_is_help=True, help="Saved templates.")

Account = Annotated[str, typer.Option(metavar="ID", help="The account's id.")]
TemplateId = Annotated[UUID, typer.Argument(metavar="ID", help="The template's id.")]
By = Annotated[str, typer.Option(metavar="REF", help="What uses it, such as campaign-42.")]
_NAME = "A display name, 1 to 128 characters."
_SUBJECT = "Text with plain references such as {{ name }}, at most 998 characters."
_CATEGORY = "A label for sorting, 1 to 128 characters."
_HTML = "A file with the HTML body in UTF-8; - reads standard input."


@app.command("create")
def create(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    *,
    account: Account,
    name: Annotated[str, typer.Option(help=_NAME)],
    subject: Annotated[str, typer.Option(help=_SUBJECT)],
    category: Annotated[str, typer.Option(help=_CATEGORY)],
    html: Annotated[typer.FileBinaryRead, typer.Option(metavar="FILE", help=_HTML)],
    internal: Annotated[
        bool,
        typer.Option("--internal", help="Mark it as a copy for a campaign. Lists do not show it."),
    ] = False,
) -> None:
    """Save a template. It can use references, a few filters, if and for.

    Example: `pillarbox template create --account qh4ybvcvbqzk --name Receipt
    --subject "Your order {{ order_id }}" --category billing --html receipt.html`
    """
    session = connected(ctx)
    source = TemplateSource(name=name, subject=subject, category=category, html=_text(html))
    template = session.wiring.template_authoring.create(account, source, internal=internal)
    session.show(template_view(template))


@app.command("update")
def update(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    template_id: TemplateId,
    *,
    account: Account,
    name: Annotated[str | None, typer.Option(help=_NAME)] = None,
    subject: Annotated[str | None, typer.Option(help=_SUBJECT)] = None,
    category: Annotated[str | None, typer.Option(help=_CATEGORY)] = None,
    html: Annotated[typer.FileBinaryRead | None, typer.Option(metavar="FILE", help=_HTML)] = None,
) -> None:
    """Change a template. Accepted emails keep the old content.

    Example: `pillarbox template update 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d
    --account qh4ybvcvbqzk --html receipt.html`
    """
    session = connected(ctx)
    changes = TemplateChanges(
        name=name, subject=subject, category=category, html=_text(html) if html else None
    )
    session.show(template_view(_templates(session, account).update(account, template_id, changes)))


@app.command("list")
def list_all(
    ctx: typer.Context,
    *,
    account: Account,
    skip: Annotated[int, typer.Option(min=0, help="How many of the newest templates to skip.")] = 0,
    limit: Annotated[int, typer.Option(min=1, help="The most templates to show.")] = 100,
) -> None:
    """List an account's templates without internal copies, newest first.

    Example: `pillarbox template list --account qh4ybvcvbqzk`
    """
    session = connected(ctx)
    page = _templates(session, account).page(account, skip=skip, limit=limit)
    session.show_list(
        [template_view(template) for template in page.items],
        ("id", "name", "subject", "category", "variables", "updatedAt"),
        {"total": page.total, "skip": skip, "limit": limit},
    )


@app.command("show")
def show(ctx: typer.Context, template_id: TemplateId, *, account: Account) -> None:
    """Show a template. With --json, the output includes its HTML body.

    Example: `pillarbox template show 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d --account qh4ybvcvbqzk`
    """
    session = connected(ctx)
    template = _templates(session, account).get(account, template_id)
    body = {"html": template.html} if session.json else {}
    session.show(template_view(template) | body)


@app.command("delete")
def delete(ctx: typer.Context, template_id: TemplateId, *, account: Account) -> None:
    """Delete a template for good. This fails while something uses it.

    Example: `pillarbox template delete 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d --account qh4ybvcvbqzk`
    """
    session = connected(ctx)
    _templates(session, account).delete(account, template_id)
    session.show({"id": str(template_id), "deleted": True})


@app.command("reference")
def reference(ctx: typer.Context, template_id: TemplateId, *, account: Account, by: By) -> None:
    """Record that a campaign or scheduled send uses a template, so it cannot be deleted.

    Example: `pillarbox template reference 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d
    --account qh4ybvcvbqzk --by campaign-42`
    """
    session = connected(ctx)
    session.show(template_view(_templates(session, account).reference(account, template_id, by)))


@app.command("unreference")
def unreference(ctx: typer.Context, template_id: TemplateId, *, account: Account, by: By) -> None:
    """Record that a campaign or scheduled send no longer uses a template.

    Example: `pillarbox template unreference 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d
    --account qh4ybvcvbqzk --by campaign-42`
    """
    session = connected(ctx)
    session.show(template_view(_templates(session, account).unreference(account, template_id, by)))


def _templates(session: StackSession, account: str) -> TemplateAuthoring:
    """Return the use case for templates.

    Raises:
        ServiceError: `account_not_found`.
    """
    session.wiring.accounts.get(account)
    return session.wiring.template_authoring


def _text(file: typer.FileBinaryRead) -> str:
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValidationFailed(FieldError("html", "must be UTF-8", "not_utf8")) from error
