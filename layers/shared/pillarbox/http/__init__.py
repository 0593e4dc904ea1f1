"""The HTTP API: routes, requests and responses.

Each area has the shapes of its requests in `wire.py` and those of its responses in `replies.py`.
What their annotations name is imported for type checkers and for the document alone: pydantic, of
which some of it comes, adds 22 to 310 ms of start.
"""

import pillarbox.packages  # noqa: F401  before Powertools is imported
