"""How long functions and files of the product may be."""

import ast
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_PRODUCT: Final = ("admin", "front", "functions", "layers/shared/pillarbox", "local", "relay")
_MOST_LINES: Final = 60
_MOST_LINES_OF_A_FILE: Final = 700


def _files() -> list[Path]:
    return [path for part in _PRODUCT for path in sorted((ROOT / part).rglob("*.py"))]


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function without its docstring."""
    first, end = function.body[0], function.end_lineno or 0
    if ast.get_docstring(function) is None:
        return end - function.lineno + 1
    return end - function.lineno - (first.end_lineno or 0) + first.lineno


def test_no_function_is_long() -> None:
    """No function of the product has over 60 lines, its docstring excluded."""
    found = [
        f"{path.relative_to(ROOT)}: {node.name} has {length}"
        for path in _files()
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (length := _length(node)) > _MOST_LINES
    ]
    assert found == []


def test_no_file_is_long() -> None:
    """No file of the product has over 700 lines; what belongs together may stand together."""
    found = {
        str(path.relative_to(ROOT)): lines
        for path in _files()
        if (lines := len(path.read_bytes().splitlines())) > _MOST_LINES_OF_A_FILE
    }
    assert found == {}, f"split what has more than {_MOST_LINES_OF_A_FILE} lines"
