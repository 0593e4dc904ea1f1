"""Write the generated files: `make openapi`."""

from openapi.generate import GENERATED, ROOT

for path, generate in GENERATED.items():
    file = ROOT / path
    file.write_text(generate(file.read_text(encoding="utf-8")), encoding="utf-8")
