"""The shapes of responses for pydantic, and the texts below the attributes of a class."""

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, NotRequired, TypedDict, get_args, get_origin

from pydantic import Field

from pillarbox.http.json_types import IfSet
from pillarbox.http.messages.replies import View


def texts_of(shape: type) -> dict[str, str]:
    """Return the texts below the attributes of a class, by attribute."""
    texts: dict[str, str] = {}
    for field, text in pairwise(_classes_in(shape.__module__).get(shape.__qualname__, [])):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                texts[name] = " ".join(words.split())
    return texts


@cache
def _classes_in(module: str) -> dict[str, list[ast.stmt]]:
    """Return the statements of each class of a module, and run what is for type checkers only."""
    if module == "builtins":
        return {}
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    for statement in tree.body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            names = compile(ast.Module(statement.body, []), module, "exec")
            exec(names, vars(sys.modules[module]))  # noqa: S102  imports and types of this repository
    return {one.name: one.body for one in tree.body if isinstance(one, ast.ClassDef)}


def _schema_of(view: Any, _: object, handler: Any) -> Any:  # noqa: ANN401  pydantic's
    """Return the schema of a view: that of an object with its members."""
    return handler.generate_schema(_object_of(view))


@cache
def _object_of(view: Any) -> Any:  # noqa: ANN401  a type
    members = {}
    for attribute, (name, *_) in view.declared().items():
        texts = [texts_of(base).get(attribute) for base in view.__mro__]
        owner = next(base for base in view.__mro__ if attribute in base.__annotations__)
        kind = eval(owner.__annotations__[attribute], vars(sys.modules[owner.__module__]))  # noqa: S307
        may_lack = get_origin(kind) is IfSet
        kind = get_args(kind)[0] if may_lack else kind
        if text := next(filter(None, texts), None):
            kind = Annotated[kind, Field(description=text)]
        members[name] = NotRequired[kind] if may_lack else kind
    shape: Any = TypedDict(view.published_name, members)  # type: ignore[misc]
    shape.__doc__ = view.__doc__
    return shape


View.__get_pydantic_core_schema__ = classmethod(_schema_of)  # type: ignore[attr-defined]
