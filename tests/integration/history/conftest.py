"""The service fixture of the contract tests."""

from tests.contract.conftest import dns_server, service

__all__ = ["dns_server", "service"]
