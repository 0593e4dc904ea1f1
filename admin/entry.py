"""Start the command `pillarbox`; its version needs none of its imports, such as boto3's."""

import sys

from admin import version


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print(version())  # noqa: T201  typer is not loaded
        return
    from admin.main import app  # noqa: PLC0415  takes a second

    app(prog_name="pillarbox")
