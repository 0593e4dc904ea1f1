"""The HTTP front: sends over what Lambda takes, answered by the same handlers in a container."""
