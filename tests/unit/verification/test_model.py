"""A short form of verification/model: all interleavings of two requests, and the planted bugs."""

import pytest

from tests.loops import for_each
from verification.model.__main__ import find
from verification.model.acceptance import VARIANTS, Model, explore

pytestmark = pytest.mark.slow
MODELS = [
    *(Model(bodies=bodies) for bodies in ("aa", "ab")),
    *(Model(bodies=bodies, count=2, batch=True) for bodies in ("aa", "ab")),
    Model(bodies="aa", count=2, keyed=False),
]
#: These need three batches, which take minutes: `python -m verification.model` finds them.
DEAR = {"earlier generations forgotten", "release with earlier generations"}


@for_each("model", MODELS)
def test_no_interleaving_breaks_a_promise(model: Model) -> None:
    """No state of two requests with one key, or of two groups, breaks a promise."""
    states, _, broken = explore(model)
    assert (states > 600, broken) == (True, None)


@for_each("variant", [one for one in VARIANTS if one not in DEAR])
def test_the_model_finds_each_missing_step(variant: str) -> None:
    """Without any one step of the protocol a state breaks a promise."""
    assert find(variant)
