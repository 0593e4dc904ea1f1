"""Make accounts have what a file names. The service itself is the state: there is no other.

Each step is found by comparing the file with what the service has now. So a run that was
interrupted is repeated, and a run after a complete one finds nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

from admin.use_cases.provision_file import AccountEntry, ProvisionFile
from admin.use_cases.provisioned_objects import OBJECTS
from admin.use_cases.provisioning_ports import Files, Step, Target, Values
from pillarbox.application.management import ManagementApi
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import FieldError, ValidationFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioning:
    """Compares a file with the service, and makes the differences go away."""

    api: ManagementApi
    values: Values
    files: Files

    def run(self, content: ProvisionFile, *, plan: bool, prune: bool) -> Iterator[Step]:
        """Yield each step before it runs; with `plan` none runs."""
        me = self.api.call("GET", "/v1/me")
        operates = "accounts:read" in me["scopes"]
        own = self.api.call("GET", "/v1/account") if not operates else {"id": "", "name": ""}
        for entry in content.accounts:
            target = Target(entry, self.api, self.values, self.files, prune, None)
            target.own_key_id = me["id"]
            if operates:
                target.account_id = target.acts_for = self._find(entry)
            elif {entry.name, entry.was} & {own["name"], own["id"]}:
                target.account_id = own["id"]
            else:
                message = f"the key manages {own['name']} only; {entry.name!r} needs an operator's"
                raise ValidationFailed(FieldError("accounts", message, "not_allowed"))
            yield Step(" ", f"account {entry.name}")
            removals = list[Step]()
            for steps in (partial(_account_steps, find=self._find), *OBJECTS):
                for step in steps(target):
                    if step.last:
                        removals.insert(0, step)
                    else:
                        yield from _run(step, plan=plan)
            for step in removals:
                yield from _run(step, plan=plan)

    def _find(self, entry: AccountEntry) -> str | None:
        """Return the id of an account by its name or id, or by its former name."""
        for name in filter(None, (entry.name, entry.was)):
            found, cursor = [], ""
            while cursor is not None:
                query = f"?search={quote(name)}&limit=100" + (f"&cursor={cursor}" if cursor else "")
                page = self.api.call("GET", f"/v1/operator/accounts{query}")
                found += [one for one in page["items"] if name in {one["name"], one["id"]}]
                cursor = page["nextCursor"]
            # Owners choose the names of their accounts, such as the id of another one.
            if name in {one["id"] for one in found}:
                return name
            if len(found) > 1:
                message = f"{len(found)} accounts have the name {name!r}: name it by its id"
                raise ValidationFailed(FieldError("accounts", message, "ambiguous"))
            if found:
                return self._checked(str(found[0]["id"]), entry)
        return None

    def _checked(self, account_id: str, entry: AccountEntry) -> str:
        """Refuse an account that only the name has in common with the file's."""
        if entry.contact is not None:
            found = self.api.call("GET", f"/v1/operator/accounts/{account_id}")["contact"]
            if mailbox_key(found or "") != mailbox_key(entry.contact):
                message = f"{account_id} is named {entry.name!r} and has another contact"
                raise ValidationFailed(FieldError("accounts", message, "ambiguous"))
        return account_id


def _run(step: Step, *, plan: bool) -> Iterator[Step]:
    yield step
    if step.run and not plan:
        step.run()


def _account_steps(target: Target, *, find: Callable[[AccountEntry], str | None]) -> Iterator[Step]:
    """Create the account, and set its name, plan and brand."""
    entry = target.entry
    if target.account_id is None:
        body = {"name": entry.name, "plan": entry.plan or "free", "contact": entry.contact}

        def create() -> None:
            made = target.create("/v1/operator/accounts", body)
            target.account_id = target.acts_for = made["id"] if made else find(entry)

        yield Step("+", f"account {entry.name} ({body['plan']})", create)
        state: dict[str, Any] = {"name": entry.name, "plan": body["plan"]}
    else:
        state = target.call("GET", "/v1/account")
    wanted = {"name": entry.name} if entry.name != state.get("id") else {}
    if entry.brand:
        given = entry.brand.model_dump(by_alias=True, exclude_none=True)
        wanted |= {"brandName" if name == "name" else name: new for name, new in given.items()}
    changes = {name: new for name, new in wanted.items() if (state.get(name) or "") != new}
    if changes:
        text = ", ".join(
            f"{name} {state.get(name) or 'none'} -> {new or 'none'}"
            for name, new in changes.items()
        )
        yield Step("~", text, lambda: target.call("PATCH", "/v1/account", changes))
    if entry.plan and entry.plan != state["plan"]:
        plan = {"plan": entry.plan.value}
        path = f"/v1/operator/accounts/{target.account_id}"
        text = f"plan {state['plan']} -> {entry.plan}"
        yield Step("~", text, lambda: target.api.call("PATCH", path, plan))
