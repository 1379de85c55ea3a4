"""Parallel work gives the answers of one process, whoever works and whoever dies."""

import os
import threading
import time
import warnings
from contextlib import ExitStack, contextmanager
from functools import partial

import numpy as np
import pytest
from tests.records import workers as sent

from importance_audit.records import execution, worker_pools
from importance_audit.records.errors import AuditError, NotApplicable
from importance_audit.records.execution import WorkersDied, each, workers

pytestmark = pytest.mark.processes
NUMBERS = np.arange(1000.0)
ANSWERS = [NUMBERS.sum() + item for item in range(20)]
KINDS = {"2 threads": (2, "threads"), "2 processes": (2, "loky")}
UNSENT = (
    "Some work was done in the main process, one item after the other, because a model "
    "cannot be sent to workers."
)


@pytest.fixture(scope="module")
def shared():
    """Return workers of each kind; to start processes takes seconds."""
    with ExitStack() as stack:
        crews = {
            name: stack.enter_context(workers(*kind)) for name, kind in KINDS.items()
        }
        execution._current.set(None)
        yield crews


@pytest.fixture(params=KINDS)
def crew(request, shared):
    """Return the workers of one kind, who have reported nothing yet."""
    crew = shared[request.param]
    crew.reports = []
    crew.report = lambda *words: crew.reports.append(words)
    crew._messages.clear()
    return crew


@pytest.fixture
def processes(shared):
    """Return two processes, who have reported nothing yet."""
    shared["2 processes"]._messages.clear()
    return shared["2 processes"]


def test_answers_come_in_the_order_of_the_items(crew):
    assert [*crew.each(partial(sent.added, NUMBERS), range(20))] == ANSWERS
    assert [*crew.each(partial(sent.added, NUMBERS), [])] == []
    assert [*each(partial(sent.added, NUMBERS), range(20))] == ANSWERS


def test_items_are_taken_as_they_are_needed_and_workers_kept_between(crew):
    taken = []
    items = (taken.append(item) or item for item in range(50))
    next(crew.each(partial(sent.added, NUMBERS), items))
    assert len(taken) <= 2 * execution.AHEAD
    pool = crew.pool()
    answers = crew.each(partial(sent.added, NUMBERS), range(8))
    assert [next(answers) for _ in range(8)] == ANSWERS[:8]
    answers.close()
    assert crew.pool() is pool


def test_outside_of_a_block_and_within_a_worker_work_is_done_in_turn():
    assert {*each(thread_of, range(3))} == {threading.get_ident()}
    assert execution.n_threads() == 1
    with workers(3, "threads"):
        assert {*each(n_threads_of_each, range(4))} == {1}
        assert execution.n_threads() == 3  # those of a compiled loop
        assert {*each(threads_allowed, range(4))} == {1}


def threads_allowed(_):
    return execution.n_threads()


def thread_of(item):
    time.sleep(0.01 + 0 * item)
    return threading.get_ident()


def n_threads_of_each(item):
    return len({*each(thread_of, range(item, item + 4))})


def test_processes_have_ended_when_the_block_has():
    with workers(2):
        numbers = {*each(lambda _: os.getpid(), range(4))}
    assert os.getpid() not in numbers
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_an_error_keeps_type_and_words_and_ends_the_work(crew):
    with pytest.raises(KeyError, match=r"^'item 3 of 1000'$"):
        list(crew.each(partial(sent.failing, NUMBERS), range(20)))
    with pytest.raises(NotApplicable, match=r"^no answer to 0$"):
        list(crew.each(no_answer, range(20)))


def no_answer(item):
    raise NotApplicable(f"no answer to {item}")


def test_an_error_of_a_process_is_raised_here_whole(processes):
    with pytest.raises(sent.OwnError, match=r"^item is 4$") as caught:
        list(processes.each(partial(sent.failing, NUMBERS), [4]))
    assert caught.traceback[-1].name == "failing"


def test_a_warning_of_a_process_is_given_here_once(processes):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        list(processes.each(partial(sent.warning, NUMBERS), range(20)))
    (one,) = caught
    assert str(one.message) == "the fit did not converge"
    assert (one.category, one.filename) == (RuntimeWarning, sent.__file__)


def test_what_cannot_be_sent_is_done_here_and_said_once(crew):
    held = threading.Lock()
    for _ in range(2):
        assert [*crew.each(lambda n: (held and n) * 2, range(4))] == [0, 2, 4, 6]
    words = f"{UNSENT} TypeError: cannot pickle '_thread.lock' object"
    assert crew.reports == [("info", words, "")]


NOT_SENT = {
    "OSError: no such file": partial(sent.only_in, os.getpid()),
    "ModuleNotFoundError: No module named 'scorecard'": sent.NotHere(os.getpid()),
    "TypeError: cannot pickle '_thread.lock' object": sent.locked,
}


@pytest.mark.parametrize("reason", NOT_SENT)
def test_what_a_worker_cannot_do_is_done_here_and_said(processes, reason):
    reports, function = [], NOT_SENT[reason]
    processes.report = lambda *words: reports.append(words)
    answers = [*processes.each(function, range(4))]
    here = [function(item) for item in range(4)]
    assert answers == here or [*map(type, answers)] == [*map(type, here)]
    assert reports == [("info", f"{UNSENT} {reason}", "")]


def test_a_process_that_dies_is_replaced_and_its_work_done_again(tmp_path):
    reports = []
    function = partial(sent.dying, str(tmp_path / "died"))
    with workers(2, report=lambda *words: reports.append(words)):
        assert list(each(function, range(20))) == list(range(20))
        assert reports == [("info", "A worker died, and its work was done again.", "")]
        with pytest.raises(WorkersDied, match=r"^Workers died 3 times at the same "):
            list(each(partial(sent.always_dying, os.getpid()), range(4)))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_who_waits_can_be_stopped_and_what_is_under_way_is_not_awaited(kind, tmp_path):
    def stop():
        if (tmp_path / "begun").exists():
            raise KeyboardInterrupt

    with workers(*kind, check=stop), pytest.raises(KeyboardInterrupt):
        list(each(partial(sent.marking, tmp_path), range(4)))
    assert not (tmp_path / "ended").exists()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_what_was_sent_when_a_request_to_stop_came_is_not_awaited(kind, tmp_path):
    with workers(*kind) as crew:
        pool = crew.pool()
        sender = pool.sender

        def interrupted(*function):
            def send(item):
                sender(*function)(item)
                raise KeyboardInterrupt

            return send

        pool.sender = interrupted
        with pytest.raises(KeyboardInterrupt):
            list(each(partial(sent.marking, tmp_path), range(4)))
    assert not (tmp_path / "ended").exists()


def test_without_the_package_a_cluster_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setattr(execution, "has_dask", lambda: False)
    words = (
        r"needs the package distributed, which is not installed\. Run: .*pip install"
    )
    with pytest.raises(AuditError, match=words), workers(1, "dask", "tcp://x:1"):
        pass


# --- a Dask cluster of processes ------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    from distributed import Client

    with sent.cluster_of(2, tmp_path_factory.mktemp("cluster")) as cluster:
        with Client(cluster.address, set_as_default=False) as client:
            client.wait_for_workers(2)
        yield cluster


@contextmanager
def on(cluster):
    """Let a cluster work; give what is reported."""
    reports = []
    where = 1, "dask", cluster.address
    with workers(*where, report=lambda *words: reports.append(words)) as crew:
        yield reports, crew


@pytest.mark.needs_distributed
def test_a_cluster_gives_the_same_answers_errors_and_warnings(cluster):
    with on(cluster) as (reports, crew):
        assert list(each(partial(sent.added, NUMBERS), range(20))) == ANSWERS
        assert crew.used == [f"2 Dask workers of {cluster.address}"]
        with pytest.raises(KeyError, match=r"^'item 3 of 1000'$"):
            list(each(partial(sent.failing, NUMBERS), range(20)))
        with pytest.warns(RuntimeWarning, match="the fit did not converge"):
            list(each(partial(sent.warning, NUMBERS), range(20)))
    assert reports == []


@pytest.mark.needs_distributed
def test_workers_with_other_versions_are_not_used(cluster, monkeypatch):
    here = {**worker_pools.software(), "numpy": "0.1"}
    monkeypatch.setattr(worker_pools, "software", sent.OtherHere(here))
    with on(cluster) as (reports, _):
        assert list(each(partial(sent.added, NUMBERS), range(20))) == ANSWERS
    ((severity, words, _),) = reports
    assert severity == "warning"
    assert "and this process 0.1" in words


@pytest.mark.needs_distributed
def test_a_cluster_does_without_a_worker_that_dies(cluster):
    with on(cluster) as (reports, _):
        answers = each(partial(sent.slow, 0.05), range(20))
        assert next(answers) == 0
        cluster.workers[0].kill()
        assert [*answers] == list(range(1, 20))
    assert reports == []


@pytest.mark.needs_distributed
def test_a_scheduler_that_is_gone_is_said_and_the_work_done_here(cluster, monkeypatch):
    with on(cluster) as (reports, _):
        answers = each(partial(sent.slow, 0.05), range(20))
        assert next(answers) == 0
        cluster.scheduler.kill()
        assert [*answers] == list(range(1, 20))
    monkeypatch.setattr(worker_pools, "CONNECT_SECONDS", 2)  # nobody answers any more
    with on(cluster) as (told_later, _):
        assert list(each(partial(sent.added, NUMBERS), range(20))) == ANSWERS
    start = f"The Dask cluster at {cluster.address} could not be used, and the work "
    remedy = (
        "Start the scheduler and its workers, with the versions of this process, or "
        "correct `scheduler` under [execution]. The numbers are the same."
    )
    where = "was done on this machine, in one process"
    words = f"{start}{where}: the scheduler dropped the work."
    assert reports == [("warning", words, remedy)]
    ((_, words, _),) = told_later
    assert words.startswith(f"{start}{where}: OSError: Timed out")


def test_parts_of_a_loop_that_were_not_begun_are_not_begun_when_it_stops():
    begun, is_over, parts = threading.Event(), threading.Event(), []

    def part():
        begun.set()
        assert is_over.wait(60)

    def loop():
        with execution.threads_of(1) as threads:
            parts.extend(threads.submit(part) for _ in range(3))
            parts[2].add_done_callback(lambda _: is_over.set())
            assert begun.wait(60)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop()
    assert [each.cancelled() for each in parts] == [False, True, True]
