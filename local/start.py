"""Runs the whole service on this machine, in the foreground."""

import argparse
import asyncio
import logging
import os

from rich.console import Console

from local.engine import EngineFailed
from local.keys import KeysInvalid
from local.package import PackagingFailed
from local.stack import StackInUse, StackSettings, run
from pillarbox.settings import SettingError, Settings


def main() -> int:
    """Run the local stack until Ctrl-C; return 0 after a regular stop, else 1."""
    parser = argparse.ArgumentParser(prog="python -m local", description=__doc__)
    parser.add_argument(
        "--build-dashboard", action="store_true", help="build the dashboard beside the stack"
    )
    arguments = parser.parse_args()
    # The SAM translator logs warnings about feature toggles that only AWS can set.
    logging.getLogger("samtranslator").setLevel(logging.ERROR)
    errors = Console(stderr=True)
    try:
        settings = StackSettings.read(Settings(os.environ))
    except SettingError as error:
        errors.print(f"[bold red]{error}[/]")
        return 1
    try:
        return asyncio.run(run(settings, Console(), build_dashboard=arguments.build_dashboard))
    except EngineFailed as failure:
        errors.print(f"[bold red]{failure}[/]\nEngine log: {settings.log}")
    except (KeysInvalid, PackagingFailed, StackInUse) as failure:
        errors.print(f"[bold red]{failure}[/]", soft_wrap=True)
    return 1
