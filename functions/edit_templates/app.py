"""/v1/templates…: write, preview, publish and try the templates of an account."""

from typing import Any
from uuid import UUID

from pillarbox.domain.accounts.key import DRAFTS_READ, DRAFTS_WRITE, TEMPLATES_WRITE
from pillarbox.http.app import build_app, entrypoint, request_id, routes
from pillarbox.http.callers import Manager, MemberCaller, managing, members
from pillarbox.http.messages.replies import Reply, SendResult, reply_stored, send_result
from pillarbox.http.query import VersionsQuery
from pillarbox.http.requests import read_known
from pillarbox.http.templates.replies import (
    DraftItem,
    DraftList,
    PublishedItem,
    RenderedItem,
    VersionDetail,
    VersionList,
    version_list,
)
from pillarbox.http.templates.wire import (
    CreateTemplateRequest,
    RenderTemplateRequest,
    RestoreVersionRequest,
    SaveDraftRequest,
    TestTemplateRequest,
    read_draft,
    read_new_template,
    read_revision,
    read_version,
    showing_conflicts,
)
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()
route = routes(app, services)


@route(
    "POST /v1/templates",
    managing(DRAFTS_WRITE),
    body=CreateTemplateRequest,
    response=DraftItem,
    status=201,
    creates_named=True,
)
def create_template(principal: Manager) -> dict[str, Any]:
    """Begin a template.

    Creates a draft from a starter template with the account's brand, from HTML, or with a few
    words. Emails can use the template once it is published.

    Errors: `template_not_found`, `template_limit_exceeded`, `rate_limit_exceeded`.
    """
    _count_draft(principal)
    new = read_new_template(app.current_event)
    account_id, editing = principal.account.account_id, services().template_editing
    with services().creations.beside(
        read_known(app.current_event),
        f"template of {account_id}",
        new.name,
        lambda: editing.ids_of(account_id, new.name),
    ):
        state = editing.create(account_id, new, principal.actor)
    return DraftItem.of(state)


@route(
    "POST /v1/templates/render",
    managing(DRAFTS_READ),
    body=RenderTemplateRequest,
    response=RenderedItem,
)
def render_template(principal: Manager, body: RenderTemplateRequest) -> dict[str, Any]:
    """Preview a source.

    Renders a source with the engine that sends use, and checks it. Nothing is stored. A value that
    is missing shows its name. With `templateId` the problems have a `variable_not_sent` for each
    required variable that sends by this template did not give in the last 7 days.

    Errors: `rate_limit_exceeded`.
    """
    services().render_budget.take(principal.account.account_id, 1 if body.default is None else 2)
    brand, values = principal.account.brand, body.variables or {}
    rendered = services().render_source(body.to_domain(), values, brand)
    if body.template_id is None:
        return RenderedItem.of(rendered)
    required = (variable.path for variable in rendered.variables if variable.required)
    traffic = services().template_traffic.check(principal.account, body.template_id, required)
    return RenderedItem.of(rendered, problems=[*rendered.problems, *traffic])


@route("GET /v1/templates/drafts", managing(DRAFTS_READ), response=DraftList)
def list_drafts(principal: Manager) -> dict[str, Any]:
    """List drafts.

    The saved drafts, also of templates that are not published yet. The newest templates come first.
    """
    return DraftList.of(items=services().template_editing.drafts(principal.account.account_id))


@route("GET /v1/templates/{id}/draft", managing(DRAFTS_READ), response=DraftItem)
def get_draft(principal: Manager, template_id: UUID) -> dict[str, Any]:
    """Get a draft.

    The draft of a template, or what is published if there is none.
    """
    account_id = principal.account.account_id
    return DraftItem.of(services().template_editing.draft(account_id, template_id))


@route(
    "PUT /v1/templates/{id}/draft",
    managing(DRAFTS_WRITE),
    body=SaveDraftRequest,
    response=DraftItem,
    takes_revision=True,
)
def save_draft(principal: Manager, template_id: UUID) -> dict[str, Any]:
    """Save a draft.

    Replaces a revision of the draft. The source may have faults until it is published.

    Errors: `rate_limit_exceeded`.
    """
    _count_draft(principal)
    revision = read_revision(app.current_event)
    change, samples = read_draft(app.current_event)
    with showing_conflicts():
        state = services().template_editing.save(
            principal.account.account_id,
            template_id,
            change,
            samples,
            revision=revision,
            by=principal.actor,
        )
    return DraftItem.of(state)


@route(
    "POST /v1/templates/{id}/publish",
    managing(DRAFTS_WRITE),
    response=PublishedItem,
    takes_revision=True,
)
def publish_template(principal: Manager, template_id: UUID) -> dict[str, Any]:
    """Publish a draft.

    Makes the draft the next version, which emails use from now on. Emails that were accepted before
    keep the old one. The `problems` of the answer warn of variables that it needs and that sends of
    the last 7 days did not give; they stop nothing.

    Errors: `rate_limit_exceeded`.
    """
    revision = read_revision(app.current_event)
    with showing_conflicts():
        template = services().template_editing.publish(
            principal.account.account_id, template_id, revision=revision, by=principal.actor
        )
    problems = services().template_traffic.check_published(principal.account, template)
    return PublishedItem.of(template, problems=problems)


@route(
    "GET /v1/templates/{id}/versions",
    managing(DRAFTS_READ),
    query=VersionsQuery,
    response=VersionList,
)
def list_versions(principal: Manager, template_id: UUID, query: VersionsQuery) -> dict[str, Any]:
    """List versions.

    What was published, the newest first.
    """
    account_id = principal.account.account_id
    versions, published = services().template_editing.versions(
        account_id, template_id, query.limit, int(query.cursor) if query.cursor else None
    )
    return version_list(versions, published, query.limit)


@route("GET /v1/templates/{id}/versions/{version}", managing(DRAFTS_READ), response=VersionDetail)
def get_version(principal: Manager, template_id: UUID, version: str) -> dict[str, Any]:
    """Get a version.

    A version with its source and its HTML.
    """
    account_id = principal.account.account_id
    detail, published = services().template_editing.version(
        account_id, template_id, read_version(version)
    )
    return VersionDetail.of(detail, published=detail.version == published)


@route(
    "POST /v1/templates/{id}/restore",
    managing(DRAFTS_WRITE),
    body=RestoreVersionRequest,
    response=DraftItem,
    takes_revision=True,
)
def restore_version(principal: Manager, template_id: UUID) -> dict[str, Any]:
    """Restore a version.

    Replaces the draft by a version. It is not published.

    Errors: `version_not_found`, `rate_limit_exceeded`.
    """
    _count_draft(principal)
    revision = read_revision(app.current_event)
    version = read_body(app.current_event, RestoreVersionRequest).version
    with showing_conflicts():
        state = services().template_editing.restore(
            principal.account.account_id,
            template_id,
            version,
            revision=revision,
            by=principal.actor,
        )
    return DraftItem.of(state)


@route("POST /v1/templates/{id}/duplicate", managing(DRAFTS_WRITE), response=DraftItem, status=201)
def duplicate_template(principal: Manager, template_id: UUID) -> dict[str, Any]:
    """Duplicate a template.

    Begins a template with the draft of this one.

    Errors: `template_limit_exceeded`, `rate_limit_exceeded`.
    """
    _count_draft(principal)
    editing = services().template_editing
    state = editing.duplicate(principal.account.account_id, template_id, principal.actor)
    return DraftItem.of(state)


@route(
    "POST /v1/templates/{id}/test",
    members(TEMPLATES_WRITE),
    body=TestTemplateRequest,
    response=SendResult,
)
def test_template(principal: MemberCaller, template_id: UUID, body: TestTemplateRequest) -> Reply:
    """Send a test.

    Sends the draft to a member of the account. The email counts like any other. If the account has
    no sender yet, it comes from the service's own address. Its tag `test` has the template's id.

    Errors: `invalid_recipient`, `recipient_not_allowed`, `recipient_suppressed`, `sending_paused`,
    `daily_limit_exceeded`, `monthly_limit_exceeded`.
    """
    services().render_budget.take(principal.account.account_id)
    response = services().template_trial.send(
        principal,
        template_id,
        to=body.to,
        locale=body.locale,
        values=body.variables or {},
        request_id=request_id(app.current_event.raw_event),
        write_response=send_result,
    )
    return reply_stored(response)


def _count_draft(principal: Manager) -> None:
    services().render_budget.take_draft(principal.account.account_id)


load(
    lambda it: (
        it.session_authentication,
        it.template_editing,
        it.render_source,
        it.render_budget,
    )
)
lambda_handler = entrypoint(app)
