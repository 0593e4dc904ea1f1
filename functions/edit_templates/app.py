"""/v1/templates…: write, preview, publish and try the templates of an account."""

from uuid import UUID

from pillarbox.domain.accounts.key import DRAFTS_READ, DRAFTS_WRITE, TEMPLATES_WRITE
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.sign_in.session import MemberPrincipal
from pillarbox.http.app import build_app, entrypoint, request_id
from pillarbox.http.messages.replies import Reply, reply, reply_stored, send_result
from pillarbox.http.query import VersionsQuery, read_query
from pillarbox.http.requests import read_caller, read_known, read_uuid
from pillarbox.http.sign_in.wire import read_session
from pillarbox.http.templates.replies import (
    DraftItem,
    DraftList,
    PublishedItem,
    RenderedItem,
    VersionDetail,
    version_list,
)
from pillarbox.http.templates.wire import (
    RestoreVersionRequest,
    read_draft,
    read_new_template,
    read_render,
    read_revision,
    read_test,
    read_version,
    showing_conflicts,
)
from pillarbox.http.wire import read_body
from pillarbox.wiring import load, services

app = build_app()


@app.post("/v1/templates")
def create_template() -> Reply:
    principal = _author()
    new = read_new_template(app.current_event)
    account_id, editing = _account(principal), services().template_editing
    with services().creations.beside(
        read_known(app.current_event),
        f"template of {account_id}",
        new.name,
        lambda: editing.ids_of(account_id, new.name),
    ):
        state = editing.create(account_id, new, _by(principal))
    return reply(DraftItem.of(state), 201)


@app.post("/v1/templates/render")
def render_template() -> Reply:
    principal = _reader()
    source, values, template_id = read_render(app.current_event)
    services().render_budget.take(_account(principal), 1 if source.default is None else 2)
    rendered = services().render_source(source, values, principal.account.brand)
    if template_id is None:
        return reply(RenderedItem.of(rendered))
    required = (variable.path for variable in rendered.variables if variable.required)
    traffic = services().template_traffic.check(principal.account, str(template_id), required)
    return reply(RenderedItem.of(rendered, problems=[*rendered.problems, *traffic]))


@app.get("/v1/templates/drafts")
def list_drafts() -> Reply:
    return reply(DraftList.of(items=services().template_editing.drafts(_account(_reader()))))


@app.get("/v1/templates/<template_id>/draft")
def get_draft(template_id: str) -> Reply:
    account_id = _account(_reader())
    return reply(DraftItem.of(services().template_editing.draft(account_id, _id(template_id))))


@app.put("/v1/templates/<template_id>/draft")
def save_draft(template_id: str) -> Reply:
    principal = _author()
    found, revision = _id(template_id), read_revision(app.current_event)
    change, samples = read_draft(app.current_event)
    with showing_conflicts():
        state = services().template_editing.save(
            _account(principal), found, change, samples, revision=revision, by=_by(principal)
        )
    return reply(DraftItem.of(state))


@app.post("/v1/templates/<template_id>/publish")
def publish_template(template_id: str) -> Reply:
    principal = _principal()
    found, revision = _id(template_id), read_revision(app.current_event)
    with showing_conflicts():
        template = services().template_editing.publish(
            _account(principal), found, revision=revision, by=_by(principal)
        )
    problems = services().template_traffic.check_published(principal.account, template)
    return reply(PublishedItem.of(template, problems=problems))


@app.get("/v1/templates/<template_id>/versions")
def list_versions(template_id: str) -> Reply:
    account_id, found = _account(_reader()), _id(template_id)
    query = read_query(app.current_event, VersionsQuery)
    versions, published = services().template_editing.versions(
        account_id, found, query.limit, int(query.cursor) if query.cursor else None
    )
    return reply(version_list(versions, published, query.limit))


@app.get("/v1/templates/<template_id>/versions/<version>")
def get_version(template_id: str, version: str) -> Reply:
    account_id, found = _account(_reader()), _id(template_id)
    detail, published = services().template_editing.version(
        account_id, found, read_version(version)
    )
    return reply(VersionDetail.of(detail, published=detail.version == published))


@app.post("/v1/templates/<template_id>/restore")
def restore_version(template_id: str) -> Reply:
    principal = _author()
    found, revision = _id(template_id), read_revision(app.current_event)
    version = read_body(app.current_event, RestoreVersionRequest).version
    with showing_conflicts():
        state = services().template_editing.restore(
            _account(principal), found, version, revision=revision, by=_by(principal)
        )
    return reply(DraftItem.of(state))


@app.post("/v1/templates/<template_id>/duplicate")
def duplicate_template(template_id: str) -> Reply:
    principal = _author()
    editing = services().template_editing
    state = editing.duplicate(_account(principal), _id(template_id), _by(principal))
    return reply(DraftItem.of(state), 201)


@app.post("/v1/templates/<template_id>/test")
def test_template(template_id: str) -> Reply:
    token = read_session(app.current_event)
    principal = services().session_authentication.authenticate_member(token, TEMPLATES_WRITE)
    found = _id(template_id)
    to, locale, values = read_test(app.current_event)
    services().render_budget.take(_account(principal))
    response = services().template_trial.send(
        principal,
        found,
        to=to,
        locale=locale,
        values=values,
        request_id=request_id(app.current_event.raw_event),
        write_response=send_result,
    )
    return reply_stored(response)


def _principal() -> Principal | MemberPrincipal:
    """Return who writes templates."""
    return services().caller_authentication.manage(read_caller(app.current_event), DRAFTS_WRITE)


def _author() -> Principal | MemberPrincipal:
    """Return who stores a draft."""
    principal = _principal()
    services().render_budget.take_draft(_account(principal))
    return principal


def _reader() -> Principal | MemberPrincipal:
    """Return who reads what others write, and its preview."""
    return services().caller_authentication.manage(read_caller(app.current_event), DRAFTS_READ)


def _account(principal: Principal | MemberPrincipal) -> str:
    return principal.account.account_id


def _by(principal: Principal | MemberPrincipal) -> str:
    return principal.actor


def _id(template_id: str) -> UUID:
    return read_uuid(template_id, "id")


load(lambda it: (it.session_authentication, it.template_editing, it.render_source))
lambda_handler = entrypoint(app)
