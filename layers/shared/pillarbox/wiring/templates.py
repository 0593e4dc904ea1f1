"""Saved templates and their editor."""

from functools import cached_property, partial
from typing import TYPE_CHECKING

from pillarbox.wiring.operator import HistoryWiring
from pillarbox.wiring.sending import SendingWiring
from pillarbox.wiring.stores import made

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping

    from pillarbox.adapters.dynamodb.templates import DynamoRenderings
    from pillarbox.application.templates.authoring import TemplateAuthoring, TemplateLibrary
    from pillarbox.application.templates.editing import RenderBudget, TemplateEditing
    from pillarbox.application.templates.rendered_source import Problem, RenderedSource
    from pillarbox.application.templates.traffic import TemplateTraffic
    from pillarbox.application.templates.trial import TemplateTrial
    from pillarbox.domain.accounts.account import Account, Brand
    from pillarbox.domain.errors import Json
    from pillarbox.domain.templates.draft import Source, SourceKind


class TemplateWiring(SendingWiring, HistoryWiring):
    """Makes each use case of this area once."""

    render_budget: "RenderBudget" = made(
        "application.templates.editing", renderings=lambda it: it.renderings
    )
    renderings: "DynamoRenderings" = made("adapters.dynamodb.templates")
    template_editing: "TemplateEditing" = made(
        "application.templates.editing", templates=lambda it: it.template_authoring
    )
    template_library: "TemplateLibrary" = made(
        "application.templates.authoring", templates=lambda it: it.template_authoring
    )
    template_trial: "TemplateTrial" = made(
        "application.templates.trial",
        editing=lambda it: it.template_editing,
        members_of=lambda it: it.member_store.of_account,
    )

    @cached_property
    def template_authoring(self) -> "TemplateAuthoring":
        from pillarbox.adapters.dynamodb.messages.waiting import DynamoWaitingContents
        from pillarbox.adapters.dynamodb.templates import (
            DynamoTemplateDrafts,
            DynamoTemplates,
            DynamoTemplateVersions,
        )
        from pillarbox.application.templates.authoring import TemplateAuthoring

        return self.fill(
            TemplateAuthoring,
            waits_for=DynamoWaitingContents(self.table, bucket="").uses,
            records=DynamoTemplates(self.table),
            drafts=DynamoTemplateDrafts(self.table),
            versions=DynamoTemplateVersions(self.table),
            compile_source=compile_in_child,
        )

    @cached_property
    def render_source(self) -> "Callable[[Source, Mapping[str, Json], Brand], RenderedSource]":
        """Show what a source would become, which few requests of an author need."""
        from pillarbox.application.templates.rendered_source import render_source

        return partial(render_source, compiler=compile_in_child)

    @cached_property
    def template_traffic(self) -> "TemplateTraffic":
        from pillarbox.application.templates.traffic import TemplateTraffic

        def count_shapes(
            account: "Account", template_id: str, since: int, until: int
        ) -> "Counter[str]":
            history, shards = self.history_queries, account.shards
            return history.shapes(account.account_id, template_id, since, until, shards)

        return TemplateTraffic(count_shapes=count_shapes, clock=self.clock)


def compile_in_child(kind: "SourceKind", source: str) -> "tuple[str, list[Problem]]":
    """Compile a source in a process of its own, with bounds."""
    from pillarbox.adapters.child_process import run_in_child
    from pillarbox.application.templates.rendered_source import (
        PROCESSOR_SECONDS,
        SECONDS,
        compile_apart,
    )

    run = partial(run_in_child, seconds=SECONDS, processor_seconds=PROCESSOR_SECONDS)
    return compile_apart(kind, source, run=run)
