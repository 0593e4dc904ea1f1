"""The service, as the contract's tests have it."""

from tests.contract.conftest import dns_server, service

__all__ = ["dns_server", "service"]
