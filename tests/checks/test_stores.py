"""The container makes each of its objects from what their constructors name."""

from admin.wiring import OperatorWiring
from pillarbox.settings import Settings
from pillarbox.wiring import Wiring
from pillarbox.wiring.stores import made
from tests.fakes import builders

MADE = type(made(""))


def test_an_object_is_of_the_class_that_its_annotation_names() -> None:
    for wiring in (Wiring, OperatorWiring):
        container = wiring(Settings(builders.environment() | {"AWS_DEFAULT_REGION": "eu-west-1"}))
        for owner in wiring.__mro__:
            for name, declared in vars(owner).items():
                if isinstance(declared, MADE):
                    annotation = owner.__annotations__[name]
                    found = getattr(container, name)
                    assert type(found).__name__ == getattr(annotation, "__name__", annotation)
                    assert getattr(container, name) is found
