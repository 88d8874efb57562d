"""Transactions on stores, from several threads, on all kinds of sessions."""

import contextlib
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import slimgraph as sg

PROTOCOLS = ["occ", "nowait", "waitdie", "boundedwait", "to", "mvcc", "sundial", "calvin"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph.store"


@pytest.fixture
def store(session, path):
    with sg.Store.create(path, [1, 2, 3], [2, 3, 4], session=session) as opened:
        yield opened


def as_bytes(number):
    return number.to_bytes(8, "little")


def number_at(t, vertex):
    return int.from_bytes(t.vertex_properties(vertex), "little")


def counters(path, session, vertices=3, **options):
    """A store of vertices 0, 1, ..., each with a number."""
    return sg.Store.create(
        path, vertices=range(vertices), vertex_bytes=8, session=session, **options
    )


def on_threads(count, work):
    raised = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert raised == []


def test_all_operations_of_a_transaction(session, path):
    shape = {"directed": True, "vertex_bytes": 2, "edge_bytes": 3}
    with sg.Store.create(path, [1], [2], weights=[0.5], **shape, session=session) as store:

        def change(t):
            assert t.add_vertex(7) and not t.add_vertex(7, b"no") and t.has_vertex(np.uint64(7))
            assert t.vertex_properties(7) == b"\0\0"
            t.set_vertex(7, b"xy")
            t.add_edge(7, 2, 1.5, b"abc")
            t.add_edge(7, 1, 4)
            assert t.add_vertex(8) and t.remove_vertex(8) and not t.remove_vertex(8)
            assert not t.remove_edge(2, 1) and t.remove_edge(1, 2)
            return t.neighbours_with_data(7)

        data = store.run(change)
        assert data.ids.tolist() == [1, 2] and data.ids.dtype == np.uint64
        assert data.weights.tolist() == [4, 1.5]
        assert data.properties.tolist() == [[0, 0, 0], list(b"abc")]
        assert data.times.tolist() == [2**64 - 1] * 2
        first = store.submit(lambda t: t.add_edge(8 if t.add_vertex(8) else 0, 7)).outcome().time
        last = store.submit(lambda t: t.add_edge(1, 7)).outcome().time
        assert first < last

        def by_time(t, **choice):
            return t.neighbours_with_data(7, "incoming", **choice).ids.tolist()

        assert store.run(lambda t: by_time(t)) == [1, 8]
        assert store.run(lambda t: by_time(t, since=first, until=last - 1)) == [8]
        assert store.run(lambda t: by_time(t, newest_first=True, most=1)) == [1]
        store.run(lambda t: t.remove_vertex(8) and t.remove_edge(1, 7))

    with session.open_store(path) as store:

        def read(t):
            assert not hasattr(t, "add_vertex")
            assert t.vertex_properties(7) == b"xy" and not t.has_vertex(8)
            assert t.has_edge(7, 2) and not t.has_edge(2, 7) and not t.has_edge(1, 2)
            assert t.edge(7, 2) == sg.EdgeData(1.5, b"abc")
            assert t.degree(7) == 2 and t.degree(7, "incoming") == 0
            assert t.neighbours_with_data(7).weights.tolist() == [4, 1.5]
            empty = t.neighbours_with_data(2)
            assert empty.ids.size == 0 and empty.properties.shape[0] == 0
            return t.neighbours(2, side="incoming").tolist()

        assert store.run_read_only(read) == [7]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_update_of_several_threads_is_lost(session, path, protocol):
    total, runs = 4 * 25, []
    with counters(path, session, protocol=protocol, body_threads=4, attempts=10**6) as store:

        def increment(t):
            runs.append(0)
            number = number_at(t, 0)
            time.sleep(0.0005)  # another body reads the same number
            t.set_vertex(0, as_bytes(number + 1))
            return number

        before = []

        def work(_):
            futures = [store.submit(increment) for _ in range(total // 4)]
            before.extend(future.result(30) for future in futures)
            assert all(future.outcome().committed for future in futures)

        on_threads(4, work)
        assert sorted(before) == list(range(total))
        assert store.run(lambda t: number_at(t, 0)) == total
        if protocol == "occ":
            assert len(runs) > total, "no transaction has met another"
    with session.open_store(path) as store:
        assert store.run_read_only(lambda t: number_at(t, 0)) == total


def meet(store, first_run, catch):
    """A body that in its first run reads, lets another transaction commit, and reads again."""
    runs = []

    def body(t):
        runs.append(None)
        number = number_at(t, 0)
        if len(runs) == 1:
            first_run()
        with contextlib.suppress(*catch):
            t.set_vertex(1, as_bytes(number))
        return number

    return store.submit(body), runs


@pytest.mark.parametrize("catch", [(), (Exception,)], ids=["passes", "swallows"])
@pytest.mark.parametrize("protocol", ["occ", "mvcc", "sundial"])
def test_a_transaction_that_has_met_another_begins_anew(session, path, protocol, catch):
    with counters(path, session, protocol=protocol) as store:

        def other():
            store.run(lambda t: (t.set_vertex(0, as_bytes(5)), t.set_vertex(1, as_bytes(6))))

        future, runs = meet(store, other, catch)
        assert future.result(15) == 5 or protocol == "sundial"
        assert future.outcome().attempts == len(runs)
        assert len(runs) > 1 or protocol == "sundial"


def test_a_function_that_reads_at_a_time_sees_one_moment(session, path):
    began, free = threading.Event(), threading.Event()

    def read(t):
        first = number_at(t, 0)
        began.set()
        assert free.wait(15)
        return first, number_at(t, 1)

    with counters(path, session, protocol="nowait", reads_at_a_time=True) as store:
        reader = store.submit_read_only(read)
        assert began.wait(15)
        store.run(lambda t: [t.set_vertex(v, as_bytes(5)) for v in (0, 1)])
        free.set()
        assert reader.result(15) == (0, 0)
        assert reader.outcome().attempts == 1
        assert store.run_read_only(read) == (5, 5)


def hold_and_meet(store, body_of_other):
    """Under nowait, an operation fails that meets what another transaction has locked."""
    locked, free = threading.Event(), threading.Event()

    def hold(t):
        t.set_vertex(0, as_bytes(1))
        locked.set()
        free.wait(0.05)

    holder = store.submit(hold)
    assert locked.wait(15)
    future = store.submit(body_of_other)
    return holder, future, free


def test_an_operation_that_fails_because_of_another_transaction_leads_to_a_retry(session, path):
    seen = []
    with counters(path, session, protocol="nowait", attempts=10**6) as store:

        def body(t):
            try:
                t.set_vertex(0, as_bytes(2))
            except BaseException as error:
                seen.append(error)
                raise
            return "done"

        holder, future, _ = hold_and_meet(store, body)
        assert future.result(15) == "done"
        assert future.outcome().attempts > 1 and holder.result(15) is None
    assert seen and all(type(error) is sg.AbortedError for error in seen)
    assert all("aborted" in str(error) for error in seen)


def test_a_transaction_that_always_meets_others_is_aborted(session, path):
    with counters(path, session, protocol="nowait", attempts=3, longest_wait_s=0) as store:
        locked, free = threading.Event(), threading.Event()

        def hold(t):
            t.set_vertex(0, as_bytes(1))
            locked.set()
            free.wait(15)

        holder = store.submit(hold)
        assert locked.wait(15)
        with pytest.raises(sg.AbortedError, match="given up after 3 attempts: .*lock") as raised:
            store.run(lambda t: t.set_vertex(0, as_bytes(2)))
        free.set()
        assert raised.value.outcome.attempts == 3 and raised.value.outcome.end == "aborted"
        holder.result(15)
        assert store.run(lambda t: number_at(t, 0)) == 1


def test_an_exception_aborts_the_transaction(store):
    class Full(Exception):
        pass

    def body(t):
        t.add_edge(1, 4)
        raise Full("1 has enough friends")

    future = store.submit(body)
    with pytest.raises(Full, match="enough"):
        future.result()
    outcome = future.outcome()
    assert (outcome.end, outcome.attempts, outcome.time) == ("aborted", 1, 0)
    with pytest.raises(SystemExit):
        store.run(lambda t: sys.exit(3))
    with pytest.raises(ZeroDivisionError):
        store.submit_read_only(lambda t: 1 / 0).result()
    assert not store.run(lambda t: t.has_edge(1, 4))


def test_an_error_that_the_function_handles_does_not_abort(store):
    def body(t):
        with pytest.raises(sg.InputError, match="vertex 99 does not exist"):
            t.add_edge(1, 99)
        t.add_edge(1, 4)

    store.run(body)
    assert store.run(lambda t: t.has_edge(1, 4))


MISTAKES = {
    "no vertex": (lambda t: t.degree(99), sg.InputError, "vertex 99 does not exist"),
    "a negative id": (lambda t: t.has_vertex(-1), sg.UsageError, "-1 is no vertex"),
    "a huge id": (lambda t: t.has_vertex(2**64 - 1), sg.UsageError, "out of range"),
    "no edge": (lambda t: t.edge(1, 4), sg.InputError, "1.*4"),
    "properties": (lambda t: t.set_vertex(1, b"x"), sg.UsageError, "1 bytes of properties"),
    "a side": (lambda t: t.degree(1, "both"), sg.UsageError, "'both' is unknown"),
    "no index": (lambda t: t.find_vertices("age", 1), sg.InputError, "no index age"),
    "a value": (lambda t: t.find_vertices("age", "1"), sg.UsageError, "first is '1'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_transaction_is_one_line(store, mistake):
    body, kind, line = MISTAKES[mistake]
    with pytest.raises(kind, match=line) as raised:
        store.run(body)
    assert "\n" not in str(raised.value)


def test_mistakes_about_stores_are_one_line(session, path):
    calls = {
        "no/such": lambda: session.open_store("/no/such.store"),
        "protocol": lambda: counters(path, session, protocol="ocd"),
        "not to": lambda: session.open_store(path, protocol="to", reads_at_a_time=True),
        "body_threads": lambda: session.open_store(path, body_threads=0),
        "attempts": lambda: session.open_store(path, attempts=0),
        "longest_wait_s": lambda: session.open_store(path, longest_wait_s=float("nan")),
        "room_edges": lambda: session.open_store(path, room_edges=-1),
        "there already": lambda: counters(path, session),
        "vertex_bytes": lambda: sg.Store.create(str(path) + "2", vertex_bytes=-1),
        "give offset and type": lambda: sg.Store.create(str(path) + "2", indexes={"age": 0}),
        "have only 0 bytes": lambda: sg.Store.create(str(path) + "2", indexes={"age": (0, "u8")}),
    }
    for line, call in calls.items():
        with pytest.raises(sg.Error, match=line) as raised:
            call()
        assert "\n" not in str(raised.value), line
    with session.open_store(path), pytest.raises(sg.Error, match="open already"):
        session.open_store(path)


def test_a_transaction_cannot_be_used_after_its_end_or_by_other_threads(store):
    kept = []

    def body(t):
        kept.append(t)
        t.add_edge(1, 4)
        raised = []

        def other():
            try:
                t.degree(1)
            except sg.UsageError as error:
                raised.append(str(error))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return raised

    assert "only by the thread" in store.run(body)[0]

    def old(_):
        for t in kept:
            t.degree(1)

    for use in [lambda: old(None), *[lambda: store.run(old)] * 20]:
        with pytest.raises(sg.UsageError, match="the transaction has ended"):
            use()
    with pytest.raises(sg.UsageError, match="the transaction has ended"):
        kept[0].add_edge(2, 4)


def test_a_function_cannot_call_the_session_of_its_store(store, session):
    calls = [store.snapshot, store.close, session.close, lambda: session.from_edges([1], [2])]
    for call in calls:
        with pytest.raises(sg.UsageError, match="in a transaction"):
            store.run(lambda t, call=call: call())
    assert store.run(lambda t: store.submit(lambda u: u.degree(1)).result(15)) == 1


def test_waiting_calls_let_functions_run(session, path):
    """Each of these calls waits for a function that another thread of Python must let go on."""
    store = counters(path, session)
    started, go_on = threading.Event(), threading.Event()

    def body(t):
        t.set_vertex(0, as_bytes(number_at(t, 0) + 1))
        started.set()
        go_on.wait(15)
        for _ in range(100):
            time.sleep(0.0001)  # asks for the GIL again
        return number_at(t, 0)

    def let_go():
        started.wait(15)
        time.sleep(0.05)
        go_on.set()

    waits = [
        lambda future: future.result(15),
        lambda future: store.snapshot(),
        lambda future: store.close(),
    ]
    for number, wait in enumerate(waits, 1):
        started.clear()
        go_on.clear()
        future = store.submit(body)
        helper = threading.Thread(target=let_go)
        helper.start()
        wait(future)
        helper.join()
        assert future.result(15) == number


def test_algorithms_run_on_snapshots(session, path):
    u, v = np.triu_indices(6, 1)
    with sg.Store.create(path, [0], [1], vertices=range(6), session=session) as store:
        first = store.snapshot()
        for a, b in zip(u.tolist(), v.tolist()):
            store.submit(lambda t, a=a, b=b: t.add_edge(a, b)).result()
        second = store.snapshot()
        assert (first.edges, second.edges, second.triangles()) == (1, 15, 20)
        assert second.pagerank().values == pytest.approx(np.full(6, 1 / 6))
        assert second.maximal_independent_set().values.sum() == 1
        assert first.pagerank().values[0] > first.pagerank().values[5]
        with pytest.raises(sg.UsageError, match="snapshot"):
            first.info()
    assert second.bfs(0).values.tolist() == [0, 1, 1, 1, 1, 1]


def test_a_closed_store_refuses_transactions(session, path):
    store = counters(path, session)
    store.close()
    store.close()
    for call in lambda: store.run(lambda t: 1), store.snapshot:
        with pytest.raises(sg.UsageError, match="the store is closed"):
            call()
    with session.open_store(path) as store:
        session.close()
        with pytest.raises(sg.UsageError, match="closed"):
            store.run(lambda t: 1)


def test_a_transaction_can_be_cancelled_before_it_runs(session, path):
    with counters(path, session, body_threads=1) as store:
        go_on = threading.Event()
        store.submit(lambda t: go_on.wait(15))
        late = store.submit(lambda t: t.set_vertex(0, as_bytes(1)))
        assert late.cancel() and late.outcome(0).end == "aborted"
        go_on.set()
        assert store.run(lambda t: number_at(t, 0)) == 0


def test_a_program_that_closes_nothing_loses_nothing(path):
    script = f"""
import slimgraph as sg
store = sg.Store.create({str(path)!r}, [1], [2], session=sg.Session(nodes=2))
store.run(lambda t: t.add_vertex(7))
futures = [store.submit(lambda t, v=v: t.add_vertex(v)) for v in range(10, 30)]
del store
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    with sg.Store.open(path) as store:
        assert store.snapshot().ids.tolist() == [1, 2, 7, *range(10, 30)]
