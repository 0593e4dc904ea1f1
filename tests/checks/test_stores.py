"""The stores that the use cases share."""

from pillarbox.settings import Settings
from pillarbox.wiring.stores import Stores


def test_a_store_is_of_the_class_that_its_annotation_names() -> None:
    stores = Stores(Settings({"PILLARBOX_TABLE": "First", "PILLARBOX_CREDENTIALS_TABLE": "Second"}))
    for name, annotation in Stores.__annotations__.items():
        store = getattr(stores, name)
        assert type(store).__name__ == annotation
        assert getattr(stores, name) is store
