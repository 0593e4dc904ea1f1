"""What a role must not do is denied, whatever its code tries: see `iam.is_allowed`.

The kinds of records come from the table in adapters/dynamodb/keys.py. So a new kind is forbidden to
every role until a row below allows it.
"""

import inspect
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final
from uuid import UUID

import pytest

from local import template
from openapi.operations import OPERATIONS
from pillarbox.adapters.dynamodb import keys, records
from pillarbox.domain.accounts.account import NO_BRAND
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from pillarbox.http.callers import KEY, SESSION
from tests import iam
from tests.fakes import builders
from tests.iam import AwsRequest
from tests.loops import for_each

_FORMS: Final = re.findall(r"^\| [\w ]+\| ([A-Z]\S*) ", keys.__doc__ or "", re.MULTILINE)
#: Every kind of record, with some of its partition keys.
_RECORDS: Final = {
    kind: {
        re.sub(r"<[^>]+>", text, form)
        for form in _FORMS
        if form.partition("#")[0] == kind
        for text in ("abc", "a#b*c")
    }
    for kind in {form.partition("#")[0] for form in _FORMS}
}
#: Keys that begin like those of a record, but are none.
_SIMILAR: Final = {
    "",
    "*",
    "?",
    "IDEM",
    "MSG",
    "QUOTA",
    "idem#a",
    "msg#a",
    " MSG#a",
    "\nMSG#a",
    "XMSG#",
}

_WRITES: Final = ("PutItem", "PartiQLInsert", "UpdateItem", "DeleteItem", "BatchWriteItem")
#: Actions of the table that change or read items and that no function uses.
_UNUSED: Final = (
    "ConditionCheckItem",
    "DeleteTable",
    "ExportTableToPointInTime",
    "PartiQLDelete",
    "PartiQLSelect",
    "PartiQLUpdate",
    "PutResourcePolicy",
    "RestoreTableToPointInTime",
    "Scan",
    "UpdateTable",
    "UpdateTimeToLive",
)

#: Every role of the template and its nested stacks.
_ROLES: Final = sorted(
    name
    for name, resource in template.inlined(template.load())["Resources"].items()
    if resource["Type"] == "AWS::IAM::Role"
)
#: The methods of the routes of a role.
_METHODS: Final = {
    role: {one.method for one in OPERATIONS if f"{one.logical_id}Role" == role} for role in _ROLES
}
#: The roles of the programs that take requests with a key, and the one that replaces keys.
_CALLED: Final = {f"{one.logical_id}Role" for one in OPERATIONS if KEY in one.security} | {
    "GetOverviewRole",
    "ManageKeysRole",
    "RelayRole",
    "ResendRole",
}
#: The roles of the routes that also take a session.
_CALLED_BY_USERS: Final = {f"{one.logical_id}Role" for one in OPERATIONS if SESSION in one.security}
_SENDERS: Final = {"McpRole", "RelayRole", "ResendRole", "SendBatchRole", "SendEmailRole"}
#: Who writes what the promise and the limits of tenants stand on. For other records the template
#: decides, and test_template_roles.py compares it with what the code calls.
_WRITERS: Final = {
    "IDEM": _SENDERS | {"ChangeMessageRole"},
    "QUOTA": _SENDERS | {"ChangeMessageRole", "DeleteAccountRole", "EditTemplatesRole"},
    "MSG": _SENDERS
    | {
        *("ChangeMessageRole", "DeleteAccountRole", "DeliverMessageRole", "EditTemplatesRole"),
        *("EnqueueDueRole", "RecordFeedbackRole", "SweepAccountRole"),
    },
    "ACCT": {
        *("AggregateStatsRole", "CreateAccountRole", "IssuePreviewKeyRole", "ManageAccountRole"),
        *("ManageDomainsRole", "OperateRole", "RecordFeedbackRole", "SweepAccountRole"),
        *("DeleteAccountRole", "WriteWebhooksRole"),
    },
    "SUP": {"DeleteAccountRole", "ManageAccountRole", "RecordFeedbackRole"},
}
#: Who lists the records of the table that name all accounts; nothing there lists keys or claims.
_LISTERS: Final = {
    "ACCTS": {"CreateAccountRole", "OperateRole", "RecordFeedbackRole", "SweepMessagesRole"},
    "KEYS": {"DeleteAccountRole"},
    "KEY": set[str](),
    "IDEM": set[str](),
}


def _stated(role: str, actions: Iterable[str], table: str = "Table") -> set[str]:
    """Return the kinds of records for which the statements of a role name an action."""
    wanted = {f"dynamodb:{action}" for action in actions}
    kinds = set()
    for statement in iam.statements(role):
        if table in statement.resources and wanted & set(statement.actions):
            patterns = statement.leading_keys
            assert patterns, f"a statement of {role} is not limited to some keys"
            kinds |= {
                kind for kind, _, rest in (p.partition("#") for p in patterns) if rest in {"", "*"}
            }
    return kinds


def _allows(
    role: str,
    action: str,
    *leading_keys: str,
    table: str = "Table",
    attributes: Iterable[str] | None = None,
) -> bool:
    named = None if attributes is None else frozenset(attributes)
    request = AwsRequest(f"dynamodb:{action}", table, frozenset(leading_keys) or None, named)
    return iam.is_allowed(iam.statements(role), request)


def _allowed_kinds(role: str, actions: Iterable[str]) -> set[str]:
    return {
        kind
        for kind, partition_keys in _RECORDS.items()
        for key in partition_keys
        for action in actions
        if _allows(role, action, key)
    }


def _made() -> set[str]:
    """Return the kinds of the keys that the functions of `keys` make."""
    values: dict[type, object] = {inspect.Parameter.empty: "a", str: "a", int: 0, UUID: UUID(int=0)}
    made = []
    for _, function in inspect.getmembers(keys, inspect.isfunction):
        parameters = inspect.signature(function).parameters.values()
        types = [one.annotation for one in parameters if one.default is one.empty]
        of_timers = function.__name__.startswith("timer_")
        if function.__module__ == keys.__name__ and values.keys() >= {*types} and not of_timers:
            made.append(function(*(values[one] for one in types)))
    for kind in keys.TIMERS:
        made += [keys.timer_item(kind, 0), keys.timer_note(kind)]
    return set(re.findall(r"'pk': \{'S': '([A-Z]+)", repr(made)))


def test_every_kind_of_record_is_tested() -> None:
    assert _RECORDS["KEY"] == {"KEY#abc", "KEY#a#b*c"}
    assert _RECORDS["PULSE"] == {"PULSE"}
    assert {"MSG#abc", "MSG#abc#abc"} <= _RECORDS["MSG"]
    assert _made() == set(_RECORDS)


@for_each("role", _ROLES)
def test_a_role_writes_the_records_of_its_statements_only(role: str) -> None:
    """Each write of a record of another kind is denied, alone and beside an allowed one."""
    written = _stated(role, _WRITES)
    assert _allowed_kinds(role, _WRITES) == written
    for action in _WRITES:
        assert not any(_allows(role, action, key) for key in _SIMILAR)
        for kind, other in (
            (kind, other) for kind in written for other in _RECORDS.keys() - written
        ):
            assert not _allows(role, action, *_RECORDS[kind], *_RECORDS[other])


def test_what_the_promise_stands_on_has_known_writers() -> None:
    """Claims, messages, quotas, accounts and suppressions are changed by these roles alone."""
    for kind, writers in _WRITERS.items():
        assert {role for role in _ROLES if kind in _allowed_kinds(role, _WRITES)} == writers


@for_each("role", [role for role in _ROLES if _METHODS[role] == {"get"}])
def test_a_function_that_only_reads_writes_no_record(role: str) -> None:
    """The role of a function whose routes are all GET can change nothing in either table.

    But each reading of a received mail adds an entry to the account's log, and replaces none.
    """
    noted = {"LOG"} if role == "ReadReceivedRole" else set[str]()
    assert _stated(role, ["UpdateItem"]) == noted
    assert _stated(role, set(_WRITES) - {"UpdateItem"}) == set()
    assert _stated(role, _WRITES, "Credentials") == set()


@for_each("role", _ROLES)
def test_a_role_lists_its_own_records_only(role: str) -> None:
    """The sweep and operators list accounts, nothing lists keys, accepting mail lists nothing."""
    listed = _allowed_kinds(role, ["Query"])
    assert listed == _stated(role, ["Query"])
    assert {kind for kind, of in _LISTERS.items() if role in of} == listed & _LISTERS.keys()
    if role in _SENDERS - {"McpRole", "ResendRole"}:
        assert listed == set()


@for_each("role", _ROLES)
def test_no_role_reads_the_lists_of_keys_and_accounts(role: str) -> None:
    """No item of these lists can be read by its key, alone or hidden in a batch.

    Only the routes of keys read an entry of an account's list of keys, to revoke or replace the
    key, and the worker, to see whether the key of an email that waited still works.
    """
    for table in ("Table", "Credentials"):
        for action in ("GetItem", "BatchGetItem"):
            for key in ("KEYS#abc", "ACCTS"):
                if (action, key) == ("GetItem", "KEYS#abc") and role in {
                    "DeliverMessageRole",
                    "IssuePreviewKeyRole",
                    "ManageKeysRole",
                    "SweepAccountRole",
                }:
                    continue
                assert not _allows(role, action, key, table=table)
                assert not _allows(role, action, "KEY#abc", "ACCT#abc", key, table=table)


@for_each("role", _ROLES)
def test_a_role_has_its_own_rights_to_identities_only(role: str) -> None:
    """No function changes or lists another record of `Credentials`, or copies the table."""
    for action in (*_WRITES, "Query", "GetItem", *_UNUSED):
        stated = _stated(role, [action], "Credentials")
        is_own = (role, action) == ("ManageKeysRole", "ConditionCheckItem")  # a key's parent works
        assert action not in _UNUSED or stated == set() or is_own
        for kind, partition_keys in _RECORDS.items():
            for key in partition_keys:
                assert _allows(role, action, key, table="Credentials") is (kind in stated)


@for_each("role", _ROLES)
def test_only_roles_that_authenticate_read_identities(role: str) -> None:
    """Programs that take requests read the record of a key; workers and sweeps read none."""
    assert _allows(role, "BatchGetItem", "KEY#abc", table="Credentials") is (role in _CALLED)


@for_each("role", _ROLES)
def test_only_routes_that_take_sessions_read_them(role: str) -> None:
    """The read routes and sign-in read sessions and members; what sends email reads neither."""
    for key in ("SESS#abc", "TEAM#abc"):
        allowed = _allows(role, "BatchGetItem", key, table="Credentials")
        assert allowed is (role in _CALLED_BY_USERS)


@for_each("role", _ROLES)
def test_each_kind_of_identity_has_one_writer(role: str) -> None:
    """Routes of webhooks, keys, members and sign-in, and the worker, write what they need only."""
    written = {
        kind
        for kind, partition_keys in _RECORDS.items()
        for key in partition_keys
        for action in _WRITES
        if _allows(role, action, key, table="Credentials")
    }
    of_role = {
        "WriteWebhooksRole": {"ACCT", "HOOK", "NAME"},
        "PasskeysRole": {"PASSKEY", "POW", "PROOF", "SESS"},
        "SignInRole": {"COUNT", "FLOW", "LINK", "SESS", "USER"},
        "CreateAccountRole": {
            *("ACCT", "ACCTS", "LOG", "NAME", "OF", "POW", "PROOF", "SIGNUPS", "TEAM")
        },
        "IssuePreviewKeyRole": {"ACCT", "ACCTS", "KEY", "KEYS", "POW", "PREVIEW", "PROOF"},
        "ManageKeysRole": {"KEY", "KEYS", "NAME", "OF", "TEAM"},  # a revocation ends invitations
        "DeleteAccountRole": {"HOOK", "KEY", "KEYS", "OF", "TEAM"},
        "DeliverMessageRole": {"REPLIES"},  # the keys of the addresses for answers
        "EditTemplatesRole": {"NAME"},
        # They create the key that signs the link by which a reader stops such email.
        "MailCodeRole": {"POW"},
        "ManageMembersRole": {"LINK", "OF", "POW", "TEAM", "USER"},
    }.get(role, set[str]())
    assert written == of_role
    for own in of_role:
        for kind in _RECORDS.keys() - of_role:
            for action in _WRITES:
                beside = _RECORDS[own] | _RECORDS[kind]
                assert not _allows(role, action, *beside, table="Credentials")


@for_each("role", ["MailCodeRole", "ManageMembersRole"])
def test_a_code_and_an_invitation_are_messages_of_the_service_only(role: str) -> None:
    """The role writes messages of the service's own account, and of no tenant."""
    own = keys.message(SERVICE_ACCOUNT_ID, UUID(int=0))["pk"]["S"]
    assert _allows(role, "PutItem", own)
    for key in (f"{own}0", f"{own}#1", "MSG#abc", "MSG#000000000001"):
        assert not _allows(role, "PutItem", key)
        assert not _allows(role, "PutItem", own, key)


@for_each(
    ("role", "own"),
    [
        ("ManageMembersRole", "invitations"),
        ("CreateAccountRole", "accounts"),
        ("MailCodeRole", "strangers"),
        ("IssuePreviewKeyRole", "preview"),
    ],
)
def test_a_role_counts_its_own_subjects_only(role: str, own: str) -> None:
    """No other function than sign-in can change a count that limits signing in."""
    assert _allows(role, "UpdateItem", f"COUNT#{own}#abc#1#2", table="Credentials")
    every = {"address", "block", "invitations", "accounts", "strangers", "preview"}
    for subject in every - {own}:
        assert not _allows(role, "UpdateItem", f"COUNT#{subject}#abc#1#2", table="Credentials")


def test_a_new_account_has_no_limits_and_no_brand() -> None:
    def allowed(*attributes: str) -> bool:
        return _allows("CreateAccountRole", "PutItem", "ACCT#abc", attributes=attributes)

    new = replace(builders.account(), senders={}, default_sender=None, contact="ada@shop.example")
    own = records.account_item(new).keys()
    assert allowed(*own)
    others = {"per_day", "default_sender", "suspended", *records.brand_attributes(NO_BRAND)}
    for name in others:
        assert not allowed(*own, name)


@for_each("role", ["ManageMembersRole", "SignInRole"])
def test_who_creates_users_makes_no_operator(role: str) -> None:
    put, own = (role, "PutItem", "USER#abc"), {"pk", "sk", "id", "address"}
    assert _allows(*put, table="Credentials", attributes=own)
    assert not _allows(*put, table="Credentials", attributes=own | {"operator"})
    update = (role, "UpdateItem", "USER#abc")
    ends = _allows(*update, table="Credentials", attributes={"pk", "sk", "proofs_ended"})
    assert ends is (role == "SignInRole")
    assert not _allows(*update, table="Credentials", attributes={"pk", "sk", "operator"})


def test_the_routes_of_the_account_change_its_name_and_brand_only() -> None:
    """They can set no plan, limit, sender or suspension."""

    def allowed(name: str) -> bool:
        return _allows("ManageAccountRole", "UpdateItem", "ACCT#abc", attributes={"pk", name})

    own = {"name", *records.brand_attributes(NO_BRAND)}
    assert all(map(allowed, own))
    others = records.account_item(builders.account()).keys() - own - {"pk", "sk"}
    assert {"plan", "account"} <= others
    assert not any(map(allowed, [*others, "suspended", "per_day", "contact"]))


@for_each("role", _ROLES)
def test_only_the_routes_of_domains_create_identities_at_ses(role: str) -> None:
    """Nothing else can, or delete one: accounts share the identity of a domain."""
    policy = iam.statements(role)
    for action in (
        "CreateEmailIdentity",
        "DeleteEmailIdentity",
        "PutEmailIdentityFeedbackAttributes",
        "PutEmailIdentityMailFromAttributes",
    ):
        allowed = iam.is_allowed(policy, AwsRequest(f"ses:{action}", "identity/*"))
        assert allowed is (role == "ManageDomainsRole")


@for_each("role", _ROLES)
def test_no_function_assumes_a_role_of_the_operator(role: str) -> None:
    """Only the function that posts events assumes roles, and none of the service's AWS account."""
    policy = iam.statements(role)
    assert not iam.is_allowed(policy, AwsRequest("sts:AssumeRole", "OwnRole"))
    assert iam.is_allowed(policy, AwsRequest("sts:AssumeRole", "*")) is (role == "PostWebhooksRole")


@for_each(
    ("role", "own"),
    [
        ("WriteWebhooksRole", ["has_webhooks"]),
        ("ManageDomainsRole", ["senders", "default_sender"]),
        (
            "OperateRole",
            [
                *("plan", "per_minute", "per_day", "per_month", "recipients_per_day"),
                *("suspended", "suspended_for"),
            ],
        ),
    ],
)
def test_a_role_changes_its_own_attributes_of_an_account(role: str, own: list[str]) -> None:
    def allowed(*attributes: str, action: str = "UpdateItem") -> bool:
        return _allows(role, action, "ACCT#abc", attributes={"pk", *attributes})

    assert allowed("sk", *own)
    names = {"pk", "sk", "suspended", *records.account_item(builders.account())}
    assert {"plan", "senders"} < names
    wrong = [variant for name in own for variant in (name.upper(), f"{name}2")]
    for name in (*(names - {"pk", "sk", *own}), *wrong):
        assert not allowed(name)
        assert not allowed(*own, name)
    assert not any(allowed(*own, action=name) for name in ("PutItem", "DeleteItem"))


@pytest.mark.parametrize("key", ["ACCT#abc", "LOG#abc"])
@pytest.mark.parametrize("action", ["PutItem", "DeleteItem", "BatchWriteItem"])
def test_operators_routes_replace_and_delete_nothing(key: str, action: str) -> None:
    """With the attributes of a log entry, or with none, they cannot replace a record."""
    for attributes in ("pk", "sk", "at", "by", "action"), ("pk", "sk"):
        assert not _allows("OperateRole", action, key, attributes=attributes)
        assert _allows("OperateRole", "UpdateItem", key, attributes=attributes)


@for_each("role", _ROLES)
def test_every_right_is_limited_to_leading_keys(role: str) -> None:
    """A condition on keys passes without keys, so actions that have none are granted to no role."""
    for statement in iam.statements(role):
        if {"Table", "Credentials"} & statement.resources:
            assert statement.leading_keys
    for action in _UNUSED:
        assert not _allows(role, action)
        assert not _allows(role, action, "MSG#abc")


def test_the_evaluation_is_that_of_iam() -> None:
    """A deny wins, ForAllValues needs every key and passes without keys, and `[` is no wildcard."""
    table = {"Fn::GetAtt": ["Table", "Arn"]}
    condition = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["A#?", "B[x]*"]}}
    allow = {
        "Effect": "Allow",
        "Action": "dynamodb:Get*",
        "Resource": table,
        "Condition": condition,
    }
    allowing = iam.read(allow)
    deny = iam.read({"Effect": "Deny", "Action": ["dynamodb:getitem"], "Resource": "*"})

    def allowed(*leading_keys: str, action: str = "dynamodb:GetItem", of: str = "Table") -> bool:
        return iam.is_allowed([allowing], AwsRequest(action, of, frozenset(leading_keys)))

    assert allowed("A#1", "B[x]")
    assert allowed()
    assert allowed("A#1", action="DynamoDB:GETITEM")
    assert not any([allowed("A#12"), allowed("A#1", "C"), allowed("a#1"), allowed("Bx")])
    assert not allowed("A#1", action="dynamodb:PutItem")
    assert not allowed("A#1", of="Other")
    assert not iam.is_allowed([allowing, deny], AwsRequest("dynamodb:GetItem", "Table", None))
    assert not iam.is_allowed([], AwsRequest("dynamodb:GetItem", "Table", None))
    unknowns: tuple[dict[str, object], ...] = (
        {"NotAction": "s3:*"},
        {"Condition": {"StringLike": {}}},
        {"Condition": {"ForAllValues:StringLike": {"aws:SourceIp": "::1"}}},
    )
    for unknown in unknowns:
        with pytest.raises(NotImplementedError):
            iam.read(allow | unknown)
