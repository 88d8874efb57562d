"""How transactions end when Ctrl-C or a death comes between."""

import os
import signal
import threading
import time

import pytest
from test_stores import as_bytes, counters, number_at, path
from test_threads import interrupt_when_busy, main_thread_is_in_a_call

import slimgraph as sg
from slimgraph import _transactions

__all__ = ["path"]  # a fixture


@pytest.mark.parametrize("wait", ["result", "run"])
def test_ctrl_c_ends_the_wait_for_a_transaction(session, path, wait):
    with counters(path, session) as store:
        go_on = threading.Event()

        def body(t):
            start = time.process_time()
            while time.process_time() < start + 0.2:
                pass
            go_on.wait(15)
            t.set_vertex(0, as_bytes(1))

        watch = interrupt_when_busy(0.1)
        with pytest.raises(KeyboardInterrupt):
            store.submit(body).result() if wait == "result" else store.run(body)
        watch.join()
        go_on.set()
        while store.run(lambda t: number_at(t, 0)) == 0:
            pass
        assert store.snapshot().vertices == 3


def test_ctrl_c_cancels_a_transaction_that_has_not_begun(session, path):
    go_on, ran = threading.Event(), []

    def interrupt():
        deadline = time.monotonic() + 0.3
        while time.monotonic() < deadline or not main_thread_is_in_a_call():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    with counters(path, session, body_threads=1) as store:
        first = store.submit(lambda t: go_on.wait(15))
        watch = threading.Thread(target=interrupt)
        watch.start()
        with pytest.raises(KeyboardInterrupt):
            store.run(ran.append)
        watch.join()
        go_on.set()
        assert first.result(15)
        store.run(lambda t: None)  # on the same thread, so it comes after what waited there
    assert ran == []


def test_an_unknown_outcome_is_no_commit(session):
    future = _transactions.TransactionFuture()
    run = _transactions._Run(future, session, lambda native: native, lambda t: "done")
    assert run.attempt(None)
    run.ended("unknown", 0, 1, 4, "node 1 has died")
    with pytest.raises(sg.UnknownOutcomeError, match="node 1 has died"):
        future.result()
    assert future.outcome() == _transactions.Outcome("unknown", 0, 1, "node 1 has died")


def test_ctrl_c_ends_close_and_commits_are_kept(session, path):
    store = counters(path, session)
    store.run(lambda t: t.set_vertex(0, as_bytes(9)))
    stop = threading.Event()

    def body(t):
        while not stop.is_set():
            number_at(t, 0)  # an error, once the session is cancelled

    store.submit(body)
    watch = interrupt_when_busy(0.1)
    with pytest.raises(KeyboardInterrupt):
        store.close()
    stop.set()
    watch.join()
    with pytest.raises(sg.UsageError, match="the store is closed"):
        store.run(lambda t: 1)
    with session.open_store(path) as again:
        assert again.run(lambda t: number_at(t, 0)) == 9
