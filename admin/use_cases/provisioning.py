"""Make accounts have what a file names. The service itself is the state: there is no other.

Each step is found by comparing the file with what the service has now. So a run that was
interrupted is repeated, and a run after a complete one finds nothing.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from time import sleep
from typing import Any, Final

from admin.use_cases.provision_file import DESTINATIONS, AccountEntry, ProvisionFile
from admin.use_cases.provisioned_objects import OBJECTS
from admin.use_cases.provisioning_ports import Files, Target, Values
from pillarbox.application.management import ManagementApi
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.http.operator.creation import CreateAccountRequest
from pillarbox.http.provisioning import ACCOUNT, Step, accounts_named, body_of
from pillarbox.wiring import utc_now

#: In seconds, between two looks at what waits for DNS.
_PAUSE: Final = 15.0


@dataclass(frozen=True, slots=True)
class Choices:
    """How to run.

    Args:
        plan: change nothing.
        prune: remove what the file does not name.
        links: make links to the records of the domains that wait for DNS.
        wait: how long to look again at what waits for DNS.
    """

    plan: bool = False
    prune: bool = False
    links: bool = False
    wait: timedelta = timedelta(0)


@dataclass(slots=True, kw_only=True)
class Provisioning:
    """Compares a file with the service, and makes the differences go away."""

    api: ManagementApi
    values: Values
    files: Files
    clock: Callable[[], datetime] = utc_now
    pause: Callable[[float], None] = sleep
    #: The accounts of which something waits for DNS, after a run.
    waiting: list[AccountEntry] = field(default_factory=list)

    def run(self, content: ProvisionFile, choices: Choices) -> Iterator[Step]:
        """Yield each step before it runs; of a plan none runs.

        An account with something that waits for DNS is looked at again, as long as that may take.
        Then only what is new is yielded.
        """
        end, shown = self.clock() + choices.wait, set[str]()
        me, entries = self.api.call("GET", "/v1/me"), content.accounts
        while entries:
            self.waiting = []
            for entry in entries:
                self._read_chat_url(entry)
                target = self._target(entry, me, choices)
                for step in self._steps(target):
                    if step.changes or str(step) not in shown:
                        yield step
                    shown.add(str(step))
                    if step.run and not choices.plan:
                        step.run()
                if target.waiting:
                    self.waiting.append(entry)
            if not self.waiting or choices.plan or self.clock() >= end:
                return
            self.pause(_PAUSE)
            entries, choices = self.waiting, replace(choices, links=False)

    def _target(self, entry: AccountEntry, me: Mapping[str, Any], choices: Choices) -> Target:
        operates = "accounts:read" in me["scopes"]
        if operates:
            acts_for = account_id = self._find(entry)
        else:
            own = self.api.call("GET", "/v1/account")
            acts_for, account_id = None, own["id"]
            if not {entry.name, entry.was} & {own["name"], own["id"]}:
                message = f"the key manages {own['name']} only; {entry.name!r} needs an operator's"
                raise ValidationFailed(FieldError("accounts", message, "not_allowed"))
        return Target(
            api=self.api,
            acts_for=acts_for,
            account_id=account_id,
            entry=entry,
            values=self.values,
            files=self.files,
            prune=choices.prune,
            own_key_id=me["id"],
            links=choices.links and not choices.plan,
            operates=operates,
        )

    def _read_chat_url(self, entry: AccountEntry) -> None:
        """Put the URL, which is a secret, in place of where it is stored."""
        place = entry.alerts.chat_url if entry.alerts else None
        if entry.alerts and place and re.match(DESTINATIONS, place):
            entry.alerts.chat_url = self.values.read(place)
            if entry.alerts.chat_url is None:
                raise ValidationFailed(FieldError("alerts.chatUrl", f"{place} is empty", "missing"))

    def _steps(self, target: Target) -> Iterator[Step]:
        """Yield the steps of an account; what is removed comes last."""
        entry = target.entry
        body = {"plan": Plan.FREE} | body_of(entry, CreateAccountRequest)
        yield Step(" ", f"account {entry.name}")
        if target.account_id is None:
            run = partial(self._create, target, body)
            yield Step("+", f"account {entry.name} ({body['plan']})", run)
        yield from target.setting_steps(entry, body)
        for steps in OBJECTS:
            yield from steps(target)
        yield from target.removals

    def _create(self, target: Target, body: Mapping[str, Any]) -> None:
        made = target.create(ACCOUNT, body)
        target.account_id = target.acts_for = made["id"] if made else self._find(target.entry)

    def _find(self, entry: AccountEntry) -> str | None:
        """Return the id of an account by its name or id, or by its former name."""
        for name in filter(None, (entry.name, entry.was)):
            found = accounts_named(self.api, name)
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
