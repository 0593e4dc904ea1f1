"""Several questions in one read: `Directory.look_up_all`."""

from pillarbox.application.ports import Found, Question
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, NOW
from tests.ports.sides import Side

OTHER = "acct00000002"


def test_questions_are_answered_in_their_order(side: Side) -> None:
    """Each gets what it asked for and nothing of its neighbours, one asked twice the same twice."""
    text = builders.key_text()
    account, key = builders.account(), builders.api_key(text)
    side.put(account)
    side.put(key)
    side.put(builders.account(OTHER))
    side.suppressions.put(ACCOUNT, "ann@example.com", "bounced", NOW, None)
    ann = Question(
        account_id=ACCOUNT, key_digest=key.digest, addresses=frozenset({"ann@example.com"})
    )
    bob = Question(account_id=ACCOUNT, addresses=frozenset({"bob@example.com"}))
    other = Question(account_id=OTHER, addresses=frozenset({"ann@example.com"}))
    nobody = Question(account_id="acct00000003")

    found = side.directory.look_up_all([ann, other, nobody, bob, ann])

    known = Found(key=key, account=account, suppressed={"ann@example.com": "bounced"})
    assert list(found) == [
        known,
        Found(account=builders.account(OTHER)),
        Found(),
        Found(account=account),
        known,
    ]


def test_questions_beyond_one_call_are_answered(side: Side) -> None:
    """More items than one call of DynamoDB reads are read all the same."""
    side.put(builders.account())
    for number in range(130):
        side.suppressions.put(ACCOUNT, f"a{number}@example.com", "bounced", NOW, None)
    questions = [
        Question(account_id=ACCOUNT, addresses=frozenset({f"a{number}@example.com"}))
        for number in range(130)
    ]
    found = side.directory.look_up_all(questions)
    assert [set(each.suppressed) for each in found] == [set(q.addresses) for q in questions]


def test_no_questions_are_no_read(side: Side) -> None:
    """Nothing asked is nothing answered."""
    assert list(side.directory.look_up_all([])) == []
