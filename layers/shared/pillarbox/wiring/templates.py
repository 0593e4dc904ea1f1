"""Saved templates and their editor."""

from functools import cached_property, partial
from typing import TYPE_CHECKING

from pillarbox.wiring.clock import utc_now
from pillarbox.wiring.sending import SendingWiring

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pillarbox.application.templates.authoring import TemplateAuthoring
    from pillarbox.application.templates.editing import TemplateEditing
    from pillarbox.application.templates.render_budget import RenderBudget
    from pillarbox.application.templates.rendered_source import RenderedSource
    from pillarbox.application.templates.saved import TemplateLibrary
    from pillarbox.application.templates.trial import TemplateTrial
    from pillarbox.domain.accounts.brand import Brand
    from pillarbox.domain.errors import Json
    from pillarbox.domain.templates.draft import Source, SourceKind
    from pillarbox.rendering.problems import Problem


class TemplateWiring(SendingWiring):
    """Makes each use case of this area once."""

    @cached_property
    def template_authoring(self) -> "TemplateAuthoring":
        from pillarbox.adapters.dynamodb.templates.drafts import (
            DynamoTemplateDrafts,
            DynamoTemplateVersions,
        )
        from pillarbox.adapters.dynamodb.templates.templates import DynamoTemplates
        from pillarbox.application.templates.authoring import TemplateAuthoring

        return TemplateAuthoring(
            records=DynamoTemplates(self.table),
            drafts=DynamoTemplateDrafts(self.table),
            versions=DynamoTemplateVersions(self.table),
            accounts=self.account_store,
            compile_source=_compile_source,
            clock=utc_now,
        )

    @cached_property
    def template_editing(self) -> "TemplateEditing":
        from pillarbox.application.templates.editing import TemplateEditing

        return TemplateEditing(self.template_authoring)

    @cached_property
    def render_source(self) -> "Callable[[Source, Mapping[str, Json], Brand], RenderedSource]":
        """Show what a source would become, which few requests of an author need."""
        from pillarbox.application.templates.rendered_source import render_source

        return partial(render_source, compiler=_compile_source)

    @cached_property
    def render_budget(self) -> "RenderBudget":
        from pillarbox.adapters.dynamodb.templates.renderings import DynamoRenderings
        from pillarbox.application.templates.render_budget import RenderBudget

        return RenderBudget(renderings=DynamoRenderings(self.table), clock=utc_now)

    @cached_property
    def template_trial(self) -> "TemplateTrial":
        from pillarbox.application.templates.trial import TemplateTrial

        return TemplateTrial(
            editing=self.template_editing,
            members_of=self.member_store.of_account,
            ports=self.sending_ports,
        )

    @cached_property
    def template_library(self) -> "TemplateLibrary":
        from pillarbox.application.templates.saved import TemplateLibrary

        return TemplateLibrary(self.template_authoring)


def _compile_source(kind: "SourceKind", source: str) -> "tuple[str, list[Problem]]":
    from pillarbox.adapters.compiling import compile_apart

    return compile_apart(kind, source)
