"""A standing pool whose nodes are on several hosts."""
import json
import os
import random
import signal
import tempfile
import time

from hosts import HERE, NET, Hosts, Listener

LIMIT_S = 20


# Starts what follows the number, once on each of the first hosts.
LAUNCHER = f"""#!/bin/sh
count=$1; shift
host=1
while [ $host -le $count ]; do
  {HERE}/enter_host {NET}$host "$@" &
  host=$((host + 1))
done
wait
"""


class Failed(Exception):
    pass


def expect(holds, what):
    if not holds:
        raise Failed(what)


class HostsWithPool:
    """Host 4 has a pool `p` on hosts 1 to 3, and its descriptor; all hosts see its files."""

    def __init__(self, graph, *options, launched=False):
        self.graph = graph
        self.launched = launched
        self.options = options
        self.hosts = Hosts(4)
        self.folder = tempfile.TemporaryDirectory(prefix="slimgraph-pools-")
        self.pools = os.path.join(self.folder.name, "pools")

    def __enter__(self):
        self.hosts.__enter__()
        self.expect_done(4, ["pool", "start", "p", *self.where(), *self.options])
        self.expect_done(4, ["pool", "load", "p", self.graph, "--as", "g"])
        return self

    def where(self):
        if self.launched:
            script = os.path.join(self.folder.name, "launch")
            with open(script, "w", encoding="ascii") as text:
                text.write(LAUNCHER)
            os.chmod(script, 0o755)
            return ["--nodes", "3", "--launcher", f"{script} {{nodes}}"]
        file = os.path.join(self.folder.name, "hosts")
        with open(file, "w", encoding="ascii") as text:
            text.writelines(f"{NET}{host}\n" for host in (1, 2, 3))
        return ["--hosts", file]

    def __exit__(self, *_):
        self.hosts.__exit__()
        self.folder.cleanup()

    def start(self, host, words):
        return self.hosts.run(host, words, SLIMGRAPH_POOLS=self.pools)

    def run(self, host, words):
        process = self.start(host, words)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def expect_done(self, host, words):
        code, out, err = self.run(host, words)
        expect(code == 0, f"{' '.join(words)} on host {host} ended with {code}: {err}")
        return out

    def expect_error(self, host, words, said):
        code, _, err = self.run(host, words)
        lines = [line for line in err.splitlines() if line.startswith("slimgraph: ")]
        expect(code == 4 and len(lines) == 1 and said in lines[0],
               f"{' '.join(words)} on host {host} ended with {code}: {err}")

    def expect_answer(self, host, words, expected):
        result = json.loads(self.expect_done(host, [*words, "--json"]))["result"]
        for name, value in expected.items():
            expect(abs(result[name] - value) <= 1e-9 * abs(value),
                   f"{words} on host {host} says {name} = {result[name]}, not {value}")

    def status(self, host):
        nodes = json.loads(self.expect_done(host, ["pool", "status", "p", "--json"]))
        return nodes["result"]["nodes"]

    def processes(self):
        return [process for host in (1, 2, 3, 4) for process in self.hosts.processes(host)]

    def process(self, node):
        return self.status(4)[node]["process"]


class PoolTests:
    """Tests of a pool. `self.graph` is a .slim file, and `self.count` has its triangles."""

    def test_jobs_on_a_pool(self):
        """From a host of the pool and from another, with any number of compute nodes."""
        with HostsWithPool(self.graph) as pool:
            for host, compute in ((4, "1"), (4, "3"), (1, "2")):
                pool.expect_answer(host, ["triangles", "p:g", "--compute", compute],
                                   {"count": self.count})
                pool.expect_done(host, ["pagerank", "p:g", "--compute", compute, "--verify"])
                pool.expect_done(host, ["bfs", "p:g", "--source", "1", "--compute", compute,
                                        "--memory-side", "auto", "--verify"])
            pool.expect_done(4, ["pool", "stop", "p", "--now"])
            expect(not os.listdir(pool.pools), f"left: {os.listdir(pool.pools)}")
            expect(not pool.processes(), "nodes still run")

    def test_pool_that_a_launcher_has_started(self):
        with HostsWithPool(self.graph, launched=True) as pool:
            expect(sorted(node["address"].split(":")[0] for node in pool.status(4))
                   == [f"{NET}{host}" for host in (1, 2, 3)], "the nodes are on other hosts")
            for host, compute in ((4, "2"), (1, "1")):
                pool.expect_answer(host, ["triangles", "p:g", "--compute", compute],
                                   {"count": self.count})
            os.kill(pool.process(1), signal.SIGKILL)
            while pool.status(4)[1]["runs"]:
                time.sleep(0.01)
            pool.expect_error(4, ["pagerank", "p:g"], "node 1 of pool 'p'")
            pool.expect_done(4, ["pool", "start", "p"])
            pool.expect_answer(4, ["triangles", "p:g"], {"count": self.count})
            pool.expect_done(4, ["pool", "stop", "p", "--now"])
            expect(not os.listdir(pool.pools), f"left: {os.listdir(pool.pools)}")
            expect(not pool.processes(), "nodes still run")

    def test_cache_of_a_host(self):
        """Each host has a cache of its own, and another agent after its first one has ended."""
        with HostsWithPool(self.graph, "--host-cache", "1G") as pool:
            def bytes_read(host):
                job = ["pagerank", "p:g", "--edge-cache", "0", "--verify", "--json"]
                traffic = json.loads(pool.expect_done(host, job))["traffic"]
                return traffic["by_kind"]["read"]["payload_bytes"]

            for host in (4, 2):
                expect(bytes_read(host) > 0 and bytes_read(host) == 0, f"host {host} reads")
            pool.hosts.cut(1)
            pool.expect_error(4, ["pagerank", "p:g"], "node 0 of pool 'p'")
            pool.hosts.heal(1)
            pool.expect_answer(4, ["triangles", "p:g"], {"count": self.count})
            bytes_read(4)
            expect(bytes_read(4) == 0, "the new agent keeps nothing")
            pool.expect_done(4, ["pool", "stop", "p"])
            expect(not pool.processes(), "agents still run")

    def test_node_of_a_pool_is_killed(self):
        with HostsWithPool(self.graph) as pool:
            os.kill(pool.process(1), signal.SIGKILL)
            pool.expect_error(4, ["pagerank", "p:g"], "node 1 of pool 'p'")
            runs = [node["runs"] for node in pool.status(4)]
            expect(runs == [True, False, True], f"they run: {runs}")
            pool.expect_done(4, ["pool", "start", "p"])
            pool.expect_answer(2, ["triangles", "p:g"], {"count": self.count})

    def test_node_of_a_pool_is_stopped(self):
        with HostsWithPool(self.graph) as pool:
            os.kill(pool.process(2), signal.SIGSTOP)
            pool.expect_done(4, ["pool", "stop", "p", "--now"])
            expect(not pool.processes(), "nodes still run")

    def test_host_of_a_pool_is_cut(self):
        """A job that runs ends with one line, and nothing of it stays; later ones say why."""
        with HostsWithPool(self.graph) as pool:
            job = pool.start(4, ["pagerank", "p:g", "--compute", "2", "--iterations", "1000000000"])
            while "the job takes" not in job.stderr.readline():
                expect(job.poll() is None, "the job has ended")
            time.sleep(0.5)
            pool.hosts.cut(2)
            err = job.communicate(timeout=LIMIT_S)[1]
            lines = [line for line in err.splitlines() if line.startswith("slimgraph: node")]
            expect(job.returncode == 4 and len(lines) == 1, f"{job.returncode}: {err}")
            pool.expect_error(4, ["pagerank", "p:g"], "node 1 of pool 'p'")
            pool.hosts.heal(2)
            end_s = time.monotonic() + LIMIT_S
            while len(pool.processes()) > 3 and time.monotonic() < end_s:
                time.sleep(0.1)
            expect(len(pool.processes()) == 3, "deputies have stayed")
            pool.expect_answer(4, ["triangles", "p:g"], {"count": self.count})

    def test_copies_while_a_host_is_cut(self):
        with HostsWithPool(self.graph, "--copies", "2") as pool:
            for host in (1, 2, 3):
                pool.hosts.cut(host)
                pool.expect_answer(4, ["triangles", "p:g"], {"count": self.count})
                pool.expect_done(4, ["pagerank", "p:g", "--compute", "2", "--verify"])
                pool.hosts.heal(host)

    def test_job_begins_again_without_a_host(self):
        with HostsWithPool(self.graph, "--copies", "2") as pool:
            job = pool.start(4, ["pagerank", "p:g", "--iterations", "20000", "--verify"])
            while "the job takes" not in job.stderr.readline():
                expect(job.poll() is None, "the job has ended")
            pool.hosts.cut(2)
            out, err = job.communicate(timeout=60)
            expect(job.returncode == 0 and "the job begins again" in err and "equals" in out,
                   f"{job.returncode}: {err}{out}")
            pool.hosts.heal(2)

    def test_encrypted_lists_cannot_be_read(self):
        """What crosses the network in one job is seen again in the next one, if it is in clear."""
        heard = []
        for options in ((), (), ("--encrypt",)):
            with HostsWithPool(self.graph, *options) as pool, Listener(pool.hosts) as listener:
                pool.expect_done(4, ["pagerank", "p:g", "--edge-cache", "0", "--verify"])
                heard.append(listener.heard())
        places = random.Random(1).sample(range(len(heard[0]) - 32), 20_000)
        pieces = [piece for piece in (heard[0][at:at + 32] for at in places)
                  if len(set(piece)) > 20][:500]
        in_clear, encrypted = (sum(piece in all for piece in pieces) for all in heard[1:])
        expect(len(pieces) == 500 and in_clear > 100 and encrypted == 0,
               f"of {len(pieces)} pieces, {in_clear} were seen in clear, {encrypted} encrypted")
        path = self.graph.encode()  # nodes tell it each other while the job forms
        expect(path in heard[0] and path not in heard[2], "words of the nodes were seen")

    def test_job_on_a_pool_is_canceled(self):
        with HostsWithPool(self.graph) as pool:
            job = pool.start(1, ["pagerank", "p:g", "--iterations", "1000000000"])
            while "the job takes" not in job.stderr.readline():
                expect(job.poll() is None, "the job has ended")
            number = pool.expect_done(4, ["job", "list", "p"]).split()[1]
            expect("@" in number, f"its number is {number}")
            pool.expect_done(4, ["job", "cancel", "p", number])
            expect(job.wait(LIMIT_S) == 4, f"ended with {job.returncode}")
            expect(len(pool.processes()) == 3, "deputies have stayed")

    def test_what_a_pool_cannot_reach(self):
        """A file that the hosts do not have, and a host that does not answer."""
        with HostsWithPool(self.graph) as pool:
            code, _, err = pool.run(4, ["pool", "load", "p", "/nowhere.slim"])
            expect(code == 3 and "/nowhere.slim" in err, f"ended with {code}: {err}")
            bad = os.path.join(pool.folder.name, "bad")
            with open(bad, "w", encoding="ascii") as text:
                text.write(f"{NET}1\n{NET}99\n")
            pool.expect_error(4, ["pool", "start", "q", "--hosts", bad], f"host {NET}99: ")
            left = [name for name in os.listdir(pool.pools) if name.startswith("q.j")]
            expect(not left and len(pool.processes()) == 3, f"left: {left}")
