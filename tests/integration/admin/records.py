"""Records of accounts, keys and templates for the tests of their stores."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from pillarbox.adapters.dynamodb.templates import DynamoTemplates
from pillarbox.application.templates.authoring import content_of
from pillarbox.domain.accounts.key import ApiKey
from pillarbox.domain.ids import new_id
from pillarbox.domain.templates.draft import SourceKind, TemplateDraft, TemplateVersion
from pillarbox.domain.templates.template import SavedTemplate
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, NOW

LATER = NOW + timedelta(minutes=5)


def api_key(number: int, account_id: str = ACCOUNT) -> ApiKey:
    name = f"{account_id}{number:08}"
    return builders.api_key("", account_id, key_id=f"key_{name}", digest=name)


def template(minutes: int = 0, account_id: str = ACCOUNT) -> SavedTemplate:
    at = NOW + timedelta(minutes=minutes)
    return builders.template(new_id(at), account_id, created_at=at, updated_at=at)


def version_of(saved: SavedTemplate) -> TemplateVersion:
    return TemplateVersion(
        account_id=saved.account_id,
        template_id=saved.template_id,
        version=saved.version,
        content=content_of(saved),
        html=saved.html,
        by="ada@shop.example",
        at=saved.updated_at,
    )


def draft(minutes: int = 0, account_id: str = ACCOUNT) -> TemplateDraft:
    saved = template(minutes, account_id)
    return TemplateDraft(
        account_id=account_id,
        template_id=saved.template_id,
        content=replace(content_of(saved), kind=SourceKind.MJML, source="<mjml>é</mjml>"),
        revision=1,
        by="ada@shop.example",
        at=NOW,
    )


def add(records: DynamoTemplates, saved: SavedTemplate) -> None:
    assert records.publish(saved, version_of(saved), unless_changed_since=None)


def id_of(saved: SavedTemplate) -> UUID:
    return UUID(saved.template_id)
