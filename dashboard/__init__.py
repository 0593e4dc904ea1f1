"""The web application of the service: its sources, and how to build it."""
