"""Deliver accepted messages, record what the provider reports, and find messages that are stuck."""
