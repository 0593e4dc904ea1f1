"""Shows what CloudFormation would do to a stack of an older release, and what it must not do."""

import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from local.template import ROOT
from tools.templates import limits
from tools.templates.defects import Defect
from tools.templates.names import Name, at, given_name, names
from tools.templates.references import references
from tools.templates.schemas import fixed_properties
from tools.templates.services import policy_owners
from tools.templates.sets import ParameterSet
from tools.templates.stack import Stack, build
from tools.templates.translate import ROOT_TEMPLATE, Json, Sources

_FILES: Final = (ROOT_TEMPLATE, "stacks", "api.yaml")
#: What cannot be made again: stored mail and events, or a name that is known outside of the stack.
_KEPT: Final = (
    "AWS::CloudFront::Distribution",
    "AWS::DynamoDB::Table",
    "AWS::S3::Bucket",
    "AWS::SES::ConfigurationSet",
    "AWS::SNS::Topic",
    "AWS::SQS::Queue",
)
#: SAM makes a new version of a function for each release, and CloudFormation keeps the older ones.
_OF_EACH_RELEASE: Final = (
    "AWS::ApiGateway::Deployment",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Version",
)


@dataclass(slots=True)
class Changes:
    """What an upgrade does to a stack: logical ids with their types, and nested stacks first."""

    file: str
    added: dict[str, str] = field(default_factory=dict)
    changed: dict[str, str] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)
    removed: dict[str, str] = field(default_factory=dict)


def newest_release(folder: Path = ROOT) -> str | None:
    """Return the tag of the newest release; None if there is no release yet."""
    tags = _git(folder, "tag", "--list", "v*", "--sort=-version:refname").split()
    return tags[0] if tags else None


def check_from(
    revision: str, sources: Sources, sets: Sequence[ParameterSet], show: Callable[[str], None]
) -> list[tuple[str, Defect]]:
    """Check the upgrade from a revision for every set of parameters.

    `show` gets the changes of the last set, which has the most resources.
    """
    found: list[tuple[str, Defect]] = []
    with tempfile.TemporaryDirectory() as folder:
        extract(revision, Path(folder))
        former = Sources(Path(folder))
        for chosen in sets:
            known = known_parameters(former, chosen)
            old, new = build(former, known), build(sources, known)
            changes = compare(old, new)
            found += ((chosen.name, problem) for problem in check_upgrade(old, new, changes))
    show(f"From {revision}, with the parameters of {chosen.name}:")
    for line in report(changes):
        show(line)
    return found


def extract(revision: str, target: Path, folder: Path = ROOT) -> None:
    """Write the templates of a revision into a folder."""
    for name in _git(folder, "ls-tree", "-r", "--name-only", revision, *_FILES).splitlines():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_git(folder, "show", f"{revision}:{name}"))


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(  # noqa: S603  words of ours
        ["git", *words],  # noqa: S607  found on the PATH
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def known_parameters(sources: Sources, chosen: ParameterSet) -> ParameterSet:
    """Return a set with those of its parameters that these templates declare.

    A stack of an older release gets the defaults of newer parameters when it is upgraded.
    """
    declared = sources.read(ROOT_TEMPLATE)["Parameters"]
    known = {name: value for name, value in chosen.parameters.items() if name in declared}
    return ParameterSet(chosen.name, known, chosen.stack, chosen.region, chosen.concurrency)


def compare(old: Stack, new: Stack) -> list[Changes]:
    """Return the changes of a stack and of the nested stacks that are in both."""
    before, after = old.resources, new.resources
    changes = Changes(new.file)
    for key in after.keys() | before.keys():
        if key not in before:
            changes.added[key] = after[key]["Type"]
        elif key not in after:
            changes.removed[key] = before[key]["Type"]
        elif _content(before[key]) != _content(after[key]):
            changes.changed[key] = after[key]["Type"]
    _find_replaced(old, new, changes)
    nested = [
        compare(old.nested[key], new.nested[key]) for key in old.nested.keys() & new.nested.keys()
    ]
    return [changes, *(change for part in nested for change in part)]


def _content(resource: Json) -> Json:
    """Return the part of a resource whose change is an update of it."""
    return [resource["Type"], resource.get("Properties", {})]


def _find_replaced(old: Stack, new: Stack, changes: Changes) -> None:
    """Move to `replaced` what has another fixed property, and then what refers to it by one."""
    found = True
    while found:
        found = False
        for key in new.resources.keys() & old.resources.keys() - changes.replaced.keys():
            if _is_replaced(old.resources[key], new.resources[key], new.region, changes.replaced):
                changes.replaced[key] = new.resources[key]["Type"]
                changes.changed.pop(key, None)
                found = True


def _is_replaced(before: Json, after: Json, region: str, replaced: Mapping[str, str]) -> bool:
    if before["Type"] != after["Type"]:
        return True
    for path in fixed_properties(after["Type"], region):
        value = at(after.get("Properties", {}), path)
        if value != at(before.get("Properties", {}), path):
            return True
        if any(name in replaced for name, _ in references(value)):
            return True
    return False


def check_upgrade(old: Stack, new: Stack, changes: Sequence[Changes]) -> Iterator[Defect]:
    """Check that an upgrade keeps data, policies and names."""
    stacks = {stack.file: stack for stack in new.every()}
    former = {stack.file: stack for stack in old.every()}
    for change in changes:
        before, after = former[change.file], stacks[change.file]
        yield from _check_kept(change)
        yield from _check_types(before, after, change)
        yield from _check_policies(before, after)
        yield from _check_own_names(before, after, change)
        yield from limits.check_policies_together(before, after)
    yield from _check_moved_names(old, new)


def _check_kept(change: Changes) -> Iterator[Defect]:
    for word, found in (("replaces", change.replaced), ("removes", change.removed)):
        for key, kind in found.items():
            if kind in _KEPT:
                message = f"The upgrade {word} it ({kind}), and with it what it holds."
                remedy = "Keep its logical id, its stack, its condition and its fixed properties."
                yield Defect(change.file, key, message, remedy)


def _check_types(before: Stack, after: Stack, change: Changes) -> Iterator[Defect]:
    for key in change.replaced:
        former, kind = before.resources[key]["Type"], after.resources[key]["Type"]
        if former != kind:
            message = f"Its type changes from {former} to {kind}, which CloudFormation refuses."
            yield Defect(change.file, key, message, "Give the new resource another logical id.")


def _check_policies(before: Stack, after: Stack) -> Iterator[Defect]:
    """A former owner of a policy is updated or deleted later, and takes the new policy away."""
    owners = policy_owners(after)
    for key, former in policy_owners(before).items():
        if key not in after.resources or set(former) <= set(owners.get(key, [])):
            continue
        by = " and ".join(former)
        if key in owners:
            to = " and ".join(owners[key])
            message = (
                f"Its policy moves from {by} to {to}. CloudFormation updates or deletes {by} "
                f"after {to}, which removes the policy that {to} wrote."
            )
            remedy = f"Keep the policy in {by}."
        else:
            message = f"It had a policy by {by}, and has none."
            remedy = "Keep the policy."
        yield Defect(after.file, key, message, remedy)


def _check_own_names(before: Stack, after: Stack, change: Changes) -> Iterator[Defect]:
    """A replacement is created while its predecessor exists, so it cannot have the same name."""
    for key in change.replaced:
        name = given_name(after, key)
        if name and name == given_name(before, key):
            message = f"The upgrade replaces it, but its name {name.text} stays."
            yield Defect(change.file, key, message, "Change the name with the fixed property.")


def _check_moved_names(old: Stack, new: Stack) -> Iterator[Defect]:
    """What gets the name of something that goes is created first, while the name is taken."""
    former: dict[Name, list[tuple[str, str]]] = names(old)
    for name, places in names(new).items():
        for file, key in places:
            if name in former and (file, key) not in former[name]:
                other_file, other = former[name][0]
                message = f"It takes the name {name.text} from {other} of {other_file}."
                remedy = "Give it another name: the former one is deleted only at the end."
                yield Defect(file, key, message, remedy)


def report(changes: Sequence[Changes]) -> Iterator[str]:
    """Yield lines that show what is added, changed, replaced and removed."""
    for change in changes:
        yield f"{change.file}:"
        for word in ("added", "changed", "replaced", "removed"):
            found: dict[str, str] = getattr(change, word)
            kinds: dict[str, list[str]] = defaultdict(list)
            for key, kind in sorted(found.items()):
                kinds[kind].append(key)
            yield f"  {word}: {len(found)}"
            for kind, keys in sorted(kinds.items()):
                names_shown = "" if kind in _OF_EACH_RELEASE else f": {', '.join(keys)}"
                yield f"    {len(keys)} {kind}{names_shown}"
