"""The HTTP front: runs the send handlers in a container, for requests too large for Lambda."""
