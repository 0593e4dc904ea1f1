"""The commands `pillarbox template …`."""

import json
from dataclasses import replace
from tempfile import NamedTemporaryFile
from typing import Annotated
from uuid import UUID

import typer

from admin.connection import Account, StackConnection, connected
from admin.tables import Record
from pillarbox.application.templates.authoring import (
    TemplateAuthoring,
    TemplateChanges,
    TemplateSource,
)
from pillarbox.application.templates.rendered_source import check_file
from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.templates.draft import SourceKind
from pillarbox.domain.templates.template import SavedTemplate
from pillarbox.http.messages.views import TemplateItem
from pillarbox.http.templates.replies import ProblemItem

app = typer.Typer(no_args_is_help=True, help="Saved templates.")

TemplateId = Annotated[UUID, typer.Argument(metavar="ID", help="The template's id.")]
By = Annotated[str, typer.Option(metavar="REF", help="What uses it, such as campaign-42.")]
_NAME = "A display name, 1 to 128 characters."
_SUBJECT = "Text with plain references such as {{ name }}, at most 998 characters."
_CATEGORY = "A label for sorting, 1 to 128 characters."
_HTML = "A file with the body in UTF-8: HTML, or MJML if it is .mjml; - reads standard input."


@app.command("create")
def create(  # noqa: PLR0913  one parameter for each option
    ctx: typer.Context,
    *,
    account: Account,
    name: Annotated[str | None, typer.Option(help=_NAME)] = None,
    subject: Annotated[str | None, typer.Option(help=_SUBJECT)] = None,
    category: Annotated[str | None, typer.Option(help=_CATEGORY)] = None,
    html: Annotated[typer.FileBinaryRead | None, typer.Option(metavar="FILE", help=_HTML)] = None,
    from_starter: Annotated[
        str | None,
        typer.Option(metavar="SLUG", help="Copy a starter, such as otp, with the account's brand."),
    ] = None,
    internal: Annotated[
        bool,
        typer.Option("--internal", help="Mark it as a copy for a campaign. Lists do not show it."),
    ] = False,
) -> None:
    """Save a template. It can use references, a few filters, if and for.

    Give --name, --subject, --category and --html, or --from-starter and those that differ from it.

    Example: `pillarbox template create --account qh4ybvcvbqzk --name Receipt
    --subject "Your order {{ order_id }}" --category billing --html receipt.html`
    """
    fields = {"name": name, "subject": subject, "category": category}
    given = {field: text for field, text in fields.items() if text is not None}
    if html is not None:
        given["html"] = _text(html)
    missing = [f"--{field}" for field in (*fields, "html") if field not in given]
    if missing and from_starter is None:
        raise typer.BadParameter(f"Give {', '.join(missing)}, or --from-starter.")
    connection = connected(ctx)
    authoring = connection.wiring.template_authoring
    if from_starter is None:
        source = TemplateSource(**given)
    else:
        source = replace(authoring.starter_source(account, from_starter), **given)
    template = authoring.create(account, source, internal=internal, kind=_kind(html))
    connection.show(_view(template))


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
    connection = connected(ctx)
    changes = TemplateChanges(
        name=name,
        subject=subject,
        category=category,
        html=_text(html) if html else None,
    )
    authoring = _templates(connection, account)
    connection.show(_view(authoring.update(account, template_id, changes, _kind(html))))


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
    connection = connected(ctx)
    page = _templates(connection, account).page(account, skip=skip, limit=limit)
    connection.show_list(
        [_view(template) for template in page.items],
        ("id", "name", "subject", "category", "variables", "updatedAt"),
        {"total": page.total, "skip": skip, "limit": limit},
    )


@app.command("show")
def show(ctx: typer.Context, template_id: TemplateId, *, account: Account) -> None:
    """Show a template. With --json, the output includes its HTML body.

    Example: `pillarbox template show 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d --account qh4ybvcvbqzk`
    """
    connection = connected(ctx)
    template = _templates(connection, account).get(account, template_id)
    body = {"html": template.html} if connection.json else {}
    connection.show({**_view(template), **body})


@app.command("preview")
def preview(
    ctx: typer.Context,
    template_id: TemplateId,
    *,
    account: Account,
    values: Annotated[
        typer.FileBinaryRead | None,
        typer.Option(metavar="FILE", help="JSON with the variables; without it, their names."),
    ] = None,
    open_page: Annotated[
        bool, typer.Option("--open", help="Show it in the browser instead of printing the HTML.")
    ] = False,
) -> None:
    """Render a template as a send would, without sending it.

    Example: `pillarbox template preview 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d
    --account qh4ybvcvbqzk --values order.json --open`
    """
    connection = connected(ctx)
    variables = _variables(values) if values else None
    subject, html = connection.wiring.template_authoring.render(account, template_id, variables)
    if open_page:
        with NamedTemporaryFile("w", suffix=".html", encoding="utf-8", delete=False) as page:
            page.write(html)
        typer.launch(page.name)
        connection.show({"subject": subject, "page": page.name})
    elif connection.json:
        connection.show({"subject": subject, "html": html})
    else:
        typer.echo(html)


@app.command("check")
def check(
    ctx: typer.Context,
    file: Annotated[typer.FileBinaryRead, typer.Argument(metavar="FILE", help=_HTML)],
) -> None:
    """Check a body without saving it: its syntax, links, images, size, and mail programs.

    It needs no deployment. The command fails if there is an error.

    Example: `pillarbox template check receipt.mjml`
    """
    connection: StackConnection = ctx.obj
    problems = check_file(_kind(file), _text(file))
    connection.show_list(
        [ProblemItem.of(problem) for problem in problems],
        ("line", "severity", "code", "message", "suggestion"),
    )
    if any(problem.stops_publication for problem in problems):
        raise typer.Exit(1)


@app.command("delete")
def delete(ctx: typer.Context, template_id: TemplateId, *, account: Account) -> None:
    """Delete a template for good. This fails while something uses it.

    Example: `pillarbox template delete 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d --account qh4ybvcvbqzk`
    """
    connection = connected(ctx)
    _templates(connection, account).delete(account, template_id)
    connection.show({"id": str(template_id), "deleted": True})


@app.command("reference")
def reference(ctx: typer.Context, template_id: TemplateId, *, account: Account, by: By) -> None:
    """Record that a campaign or scheduled send uses a template, so it cannot be deleted.

    Example: `pillarbox template reference 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d
    --account qh4ybvcvbqzk --by campaign-42`
    """
    connection = connected(ctx)
    connection.show(_view(_templates(connection, account).reference(account, template_id, by)))


@app.command("unreference")
def unreference(ctx: typer.Context, template_id: TemplateId, *, account: Account, by: By) -> None:
    """Record that a campaign or scheduled send no longer uses a template.

    Example: `pillarbox template unreference 0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d
    --account qh4ybvcvbqzk --by campaign-42`
    """
    connection = connected(ctx)
    connection.show(_view(_templates(connection, account).unreference(account, template_id, by)))


def _view(template: SavedTemplate) -> Record:
    """Return a saved template as the HTTP API does, with what only operators see."""
    return {
        **TemplateItem.of(template),
        "required": [*template.required],
        "internal": template.internal,
        "version": template.version,
        "usedBy": [*sorted(template.references)],
    }


def _templates(connection: StackConnection, account: str) -> TemplateAuthoring:
    connection.wiring.accounts.get(account)
    return connection.wiring.template_authoring


def _variables(file: typer.FileBinaryRead) -> dict[str, Json]:
    try:
        variables = json.load(file)
    except ValueError as error:
        raise ValidationFailed(FieldError("values", "must be JSON", "invalid_json")) from error
    if not isinstance(variables, dict):
        raise ValidationFailed(FieldError("values", "must be a JSON object", "invalid_type"))
    return variables


def _kind(file: typer.FileBinaryRead | None) -> SourceKind:
    is_mjml = file is not None and str(file.name).lower().endswith(".mjml")
    return SourceKind.MJML if is_mjml else SourceKind.HTML


def _text(file: typer.FileBinaryRead) -> str:
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValidationFailed(FieldError("html", "must be UTF-8", "not_utf8")) from error
