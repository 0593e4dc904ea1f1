"""Write docs/openapi.json: `make openapi`."""

from pathlib import Path

from openapi.document import written

Path(__file__).parents[1].joinpath("docs/openapi.json").write_text(written(), encoding="utf-8")
