"""Runs the operator's command for tests; what it imports and reads takes a second, once.

Each line of the standard input is a list of arguments as JSON. Each is run in a process of its
own, a copy of this one, and answered by a line with its exit code, output and errors.
"""

import io
import json
import os
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout, suppress

import admin.main  # noqa: F401  its second of imports, once
from admin.entry import main
from pillarbox.adapters.sdk import sdk_session


def prepare() -> None:
    """Run a command here: its copies then have what it imports late, and AWS's models of calls."""
    sys.argv = ["pillarbox", "--local", "--json", "account", "list"]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), suppress(SystemExit):
        main()
    sdk_session().create_client("sesv2")


def run(arguments: list[str]) -> tuple[int, str, str]:
    """Run the command; return its exit code and what it wrote to its two outputs."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if not child:
            os.dup2(output.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            sys.argv = ["pillarbox", *arguments]
            code = 1
            try:
                main()
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        errors.seek(0)
        return os.waitstatus_to_exitcode(status), output.read(), errors.read()


if __name__ == "__main__":
    prepare()
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)  # noqa: T201  the answer
