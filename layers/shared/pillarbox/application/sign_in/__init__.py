"""Signing in to the dashboard: codes, links, sessions and the members of accounts."""
