"""What botocore and moto would find anew for each client and each call, once a process.

A client takes 4 ms of processor time, and the tests make thousands of them.
"""

from functools import cache
from typing import Any

import botocore.hooks
import botocore.regions
import botocore.session
import moto.core.responses
import moto.sqs.models
import yaml
from botocore.endpoint_provider import EndpointProvider
from botocore.hooks import NodeList

# Typed so that mypy lets their parts be replaced.
_hooks: Any = botocore.hooks
_regions: Any = botocore.regions
_moto: Any = moto
_yaml: Any = yaml

_alias_of = _hooks.EventAliaser._alias_event_name
_aliases: dict[str, str] = {}
#: With the data, so that no other data gets their id.
_rules: dict[tuple[int, frozenset[str]], tuple[Any, EndpointProvider]] = {}


def install() -> None:
    """Let botocore and moto keep what depends on nothing that a test changes."""
    # All sessions share what they read of the SDK's data.
    botocore.session.create_loader = cache(botocore.session.create_loader)
    _regions.EndpointProvider = _rules_of_endpoints
    _hooks.EventAliaser._alias_event_name = _alias_event
    _hooks._PrefixTrie._recursive_copy = _copy_hooks
    responses, queues = _moto.core.responses, _moto.sqs.models
    responses.method_names_from_class = cache(responses.method_names_from_class)
    queues.camelcase_to_underscores = cache(queues.camelcase_to_underscores)
    # moto's CloudFormation reads each template with it.
    _yaml.Loader = _yaml.loader.Loader = _yaml.CLoader


def _rules_of_endpoints(
    ruleset_data: Any, partition_data: Any, excluded_params: Any = None
) -> EndpointProvider:
    key = id(ruleset_data), frozenset(excluded_params or ())
    if key not in _rules:
        rules = EndpointProvider(ruleset_data, partition_data, excluded_params)
        _rules[key] = ruleset_data, rules
    return _rules[key][1]


def _alias_event(emitter: Any, name: str) -> str:
    """Return what botocore's list of 90 aliases makes of the name of an event."""
    if name not in _aliases:
        _aliases[name] = _alias_of(emitter, name)
    return _aliases[name]


def _copy_hooks(trie: Any, node: dict[str, Any]) -> dict[str, Any]:
    """Copy the 400 hooks of a client as botocore does, without asking each how it is copied."""
    copied = dict(node)
    for name, value in node.items():
        if type(value) is dict:
            copied[name] = _copy_hooks(trie, value)
        elif type(value) is NodeList:
            copied[name] = NodeList(value.first[:], value.middle[:], value.last[:])
    return copied
