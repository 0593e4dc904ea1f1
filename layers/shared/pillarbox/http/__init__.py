"""The HTTP API: routes, requests and responses.

Each area has its requests in `wire.py` and its replies in `replies.py`. The types of replies are
in `reply_types.py`: their texts need pydantic, whose import alone adds 22 to 310 ms of start.
"""

import pillarbox.packages  # noqa: F401  before Powertools is imported
