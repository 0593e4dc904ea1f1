"""A job that kills real worker processes, on a real engine; `make attacks` tries more positions."""

from pathlib import Path

from verification.attacks.deadly_jobs import attack
from verification.faults.engine import running


def test_a_deadly_job_harms_nine_tenants_once(tmp_path: Path) -> None:
    """Nine jobs in the batch of a killer are sent once each; it is set aside after three deaths."""
    with running(tmp_path) as system:
        counts = attack(system, seed=3)
    assert len(counts.others) == 9
    assert all(counts.sent[subject] == 1 for subject in counts.others)
    assert counts.repetitions <= 1
    assert (counts.worker_deaths, counts.build_deaths, counts.set_aside) == (1, 3, 1)
    assert (counts.sent["deadly"], counts.code) == (0, "building_failed")
