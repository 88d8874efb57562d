"""Jobs and pools under Slurm, whose daemons run on the hosts. Needs Debian's slurm-wlm."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from hosts import NET, Hosts
from pools import Failed, expect

LIMIT_S = 30

CONFIGURATION = """ClusterName=hosts
SlurmctldHost={name}({net}254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/%n
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
MpiDefault=none
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""
HOST = """NodeName=n{host} NodeHostname={name} NodeAddr={net}{host} Port=1810{host} CPUs=4
"""


class Skipped(Exception):
    pass


class Slurm:
    """A Slurm cluster of four hosts. Commands run beside them, on the host of its controller."""

    def __enter__(self):
        # Daemons are in /usr/sbin.
        self.path = os.environ["PATH"] + ":/usr/sbin:" + os.path.dirname(
            os.environ["TEST_SLIMGRAPH_COMMAND"])
        for program in ("slurmctld", "slurmd", "srun", "munged"):
            if not shutil.which(program, path=self.path):
                raise Skipped(f"{program} is not installed")
        self.folder = tempfile.TemporaryDirectory(prefix="slimgraph-slurm-")
        self.hosts = Hosts(4)
        self.daemons = []
        self.started = []
        self.hosts.__enter__()
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        folder = self.folder.name
        self.environment = dict(os.environ, PATH=self.path, SLURM_CONF=f"{folder}/slurm.conf",
                                SLIMGRAPH_POOLS=f"{folder}/pools")
        with open(f"{folder}/key", "wb") as key:
            os.fchmod(key.fileno(), 0o600)
            key.write(os.urandom(1024))
        with open(f"{folder}/slurm.conf", "w", encoding="ascii") as file:
            file.write(CONFIGURATION.format(folder=folder, name=socket.gethostname(), net=NET))
            file.writelines(HOST.format(host=host, name=socket.gethostname(), net=NET)
                            for host in range(1, 5))
        os.mkdir(f"{folder}/state")
        os.chmod(folder, 0o755)
        self.daemon(self.hosts.switch, ["munged", "--foreground", "--force",
                                        f"--socket={folder}/munge", f"--key-file={folder}/key",
                                        f"--pid-file={folder}/munge.pid",
                                        f"--log-file={folder}/munge.log",
                                        f"--seed-file={folder}/munge.seed"])
        self.wait_for(lambda: os.path.exists(f"{folder}/munge"), "munged")
        self.daemon(self.hosts.switch, ["slurmctld", "-D"])
        for host in range(1, 5):
            os.mkdir(f"{folder}/n{host}")
            self.daemon(self.hosts.name(host), ["slurmd", "-D", "-N", f"n{host}"])
        self.wait_for(lambda: self.run("sinfo", "-h", "-o", "%T %D").out == "idle 4\n",
                      "hosts that are ready")

    def daemon(self, namespace, words):
        self.daemons.append(subprocess.Popen(
            self.inside(namespace, words), env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))

    @staticmethod
    def inside(namespace, words):
        return ["nsenter", f"--net=/run/netns/{namespace}", *words]

    def wait_for(self, done, what):
        end_s = time.monotonic() + LIMIT_S
        while not done():
            if time.monotonic() > end_s:
                raise Failed(f"no {what} after {LIMIT_S} s")
            time.sleep(0.1)

    def start(self, *words):
        self.started.append(subprocess.Popen(
            self.inside(self.hosts.switch, words), env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return self.started[-1]

    def run(self, *words):
        return End(self.start(*words), words)

    def __exit__(self, *_):
        for process in self.started:
            process.kill()
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.hosts.__exit__()
        self.folder.cleanup()


class End:
    def __init__(self, process, words):
        try:
            self.out, self.err = process.communicate(timeout=2 * LIMIT_S)
        except subprocess.TimeoutExpired as late:
            process.kill()
            process.communicate()
            raise Failed(f"{' '.join(words)}: has not ended") from late
        self.code = process.returncode
        self.words = " ".join(words)

    def expect(self, code, said=None):
        """The code, and one line of slimgraph that says `said`."""
        lines = [line for line in self.err.splitlines() if line.startswith("slimgraph: ")
                 and "the job takes" not in line]
        good = self.code == code and (said is None or len(lines) == 1 and said in lines[0])
        expect(good, f"{self.words} ended with {self.code}: {self.out} {self.err}")
        return self.out


class SlurmTests:
    """`self.graph` is a .slim file, and `self.count` has its triangles."""

    def test_jobs_under_slurm(self):
        with Slurm() as slurm:
            srun = ["srun", "--mpi=pmi2", "-N", "4", "slimgraph"]
            for words in (["pagerank", self.graph], ["bfs", self.graph, "--source", "1"],
                          ["cc", self.graph], ["triangles", self.graph]):
                for compute in ("1", "2"):
                    slurm.run(*srun, *words, "--compute", compute, "--verify").expect(0)
            slurm.run("srun", "-N", "4", "slimgraph", "cc", self.graph).expect(
                4, "4 copies that know nothing of each other; use 'srun --mpi=pmi2 -n 4'")
            job = slurm.start(*srun, "scan", self.graph, "--repeat", "1000000000")
            slurm.wait_for(lambda: len(slurm.hosts.nodes()) == 4, "job")
            time.sleep(1)
            slurm.hosts.signal(3, signal.SIGKILL, only="slimgraph")
            End(job, srun).expect(137, "node 2: died")

    def test_pool_in_an_allocation(self):
        """As docs/pool.md has it."""
        with Slurm() as slurm:
            slurm.run("salloc", "-N", "4", "-t", "8:00:00", "--no-shell").expect(0)
            number = slurm.run("squeue", "-h", "-o", "%A").expect(0).strip()
            launcher = f"srun --overlap --jobid {number} --exclude={{taken}} -N {{nodes}}"
            slurm.run("slimgraph", "pool", "start", "big", "--nodes", "4",
                      "--launcher", launcher).expect(0)
            slurm.run("slimgraph", "pool", "load", "big", self.graph, "--as", "web").expect(0)

            def nodes():
                end = slurm.run("slimgraph", "pool", "status", "big", "--json")
                return json.loads(end.expect(0))["result"]["nodes"]

            def hosts():
                return [node["address"].split(":")[0] for node in nodes()]

            def expect_right():
                job = ["srun", "-N", "1", "slimgraph"]
                slurm.run(*job, "pagerank", "big:web", "--compute", "2", "--verify").expect(0)
                report = json.loads(slurm.run(*job, "triangles", "big:web", "--json").expect(0))
                expect(report["result"]["count"] == self.count, f"{report['result']}")

            expect_right()
            before = hosts()
            for node in (1, 3):
                os.kill(nodes()[node]["process"], signal.SIGKILL)
                slurm.wait_for(lambda n=node: not nodes()[n]["runs"], "notice of a node's end")
                slurm.run("slimgraph", "pagerank", "big:web").expect(
                    4, f"node {node} of pool 'big'")
                slurm.run("slimgraph", "pool", "start", "big").expect(0)
                expect(hosts() == before, f"hosts of the nodes: {before}, then {hosts()}")
                expect_right()
            slurm.run("scancel", number).expect(0)
            slurm.wait_for(lambda: not any(node["runs"] for node in nodes()), "end of the pool")
            slurm.run("slimgraph", "cc", "big:web").expect(4, "the nodes of pool 'big' have ended")
            slurm.run("slimgraph", "pool", "stop", "big").expect(0)
            expect(not slurm.hosts.nodes(), "nodes still run")
