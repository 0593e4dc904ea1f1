"""Fixtures of the contract tests."""

from tests.contract.conftest import account, api, dns_server, service

__all__ = ["account", "api", "dns_server", "service"]
