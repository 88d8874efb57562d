"""Several hosts on one machine: network namespaces on one bridge. Needs root and iproute2.

    with Hosts(4) as hosts:
        done = hosts.start(["scan", "g.slim"]).wait()
"""
import os
import re
import signal
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NET = "10.77.0."


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def program(process):
    try:
        with open(f"/proc/{process}/comm", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None  # gone


class Listener:
    """Hears everything that crosses the network between the hosts."""

    def __init__(self, hosts):
        self.hosts = hosts
        self.file = tempfile.NamedTemporaryFile(prefix="slimgraph-heard-")
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(
            ["nsenter", f"--net=/run/netns/{self.hosts.switch}", "python3", "-c", """
import socket, sys
packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
packets.setsockopt(socket.SOL_SOCKET, 33, 256 << 20)  # SO_RCVBUFFORCE
print("ready", flush=True)
with open(sys.argv[1], "ab", buffering=0) as file:
    while True:
        file.write(packets.recv(1 << 17))
""", self.file.name], stdout=subprocess.PIPE)
        self.process.stdout.readline()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.file.close()

    def heard(self):
        size = -1
        while size < os.path.getsize(self.file.name):
            size = os.path.getsize(self.file.name)
            time.sleep(0.3)
        with open(self.file.name, "rb") as file:
            return file.read()


class Job:
    """Runs the command or another program, `per_host` nodes on each host. Hosts communicate over
    the bridge alone."""

    def __init__(self, hosts, words, environment, per_host, program=None):
        with tempfile.NamedTemporaryFile("w", prefix="slimgraph-hosts-", delete=False) as file:
            file.writelines(f"{NET}{host}:{per_host}\n" for host in range(1, hosts.count + 1))
        self.host_file = file.name
        command = ["nsenter", f"--net=/run/netns/{hosts.switch}",
                   "mpiexec.hydra", "-disable-auto-cleanup",
                   "-launcher", "ssh", "-launcher-exec", os.path.join(HERE, "enter_host"),
                   "-localhost", f"{NET}254", "-f", file.name, "-n", str(hosts.count * per_host),
                   "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "eth0",
                   program or os.environ["TEST_SLIMGRAPH_COMMAND"], *words]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True, env=dict(os.environ, **environment))
        self.out = self.err = ""

    def await_error(self, pattern, limit_s=30):
        """Reads standard error until a line matches `pattern`."""
        end_s = time.monotonic() + limit_s
        while time.monotonic() < end_s:
            line = self.process.stderr.readline()
            self.err += line
            if re.search(pattern, line):
                return
            if not line:
                break
        raise RuntimeError(f"never said '{pattern}', but: {self.err}")

    def wait(self, limit_s=60):
        """Returns the exit code, or None if the job has not ended by then."""
        try:
            out, err = self.process.communicate(timeout=limit_s)
            self.out += out
            self.err += err
            return self.process.returncode
        except subprocess.TimeoutExpired as late:
            self.out += (late.stdout or b"").decode()
            self.err += (late.stderr or b"").decode()
            return None
        finally:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.unlink(self.host_file)


class Hosts:
    def __init__(self, count, rate=None, slow=None):
        """`rate` limits every link, in tc's syntax; host number `slow` gets 5 % of a processor."""
        self.count = count
        self.rate = rate
        self.slow = slow
        self.prefix = f"slim{os.getpid()}h"
        self.switch = f"{self.prefix}s"
        self.groups = "/sys/fs/cgroup/cpu" if os.path.isdir("/sys/fs/cgroup/cpu") else \
            "/sys/fs/cgroup"

    def name(self, host):
        return f"{self.prefix}{host}"

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in range(1, self.count + 1):
            self.kill(host)
        for name in [self.name(host) for host in range(1, self.count + 1)] + [self.switch]:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)
        if self.slow:
            group = os.path.join(self.groups, self.name(self.slow))
            for _ in range(50):
                try:
                    os.rmdir(group)
                    break
                except FileNotFoundError:
                    break
                except OSError:  # its processes have not exited yet
                    time.sleep(0.1)

    def start(self, words, per_host=1, program=None, **environment):
        return Job(self, words, {"SLIM_HOSTS_PREFIX": self.prefix,
                                 "SLIM_HOSTS_GROUPS": self.groups if self.slow else "",
                                 **environment}, per_host, program)

    def run(self, host, words, **environment):
        """The command as a user on this host runs it. It reaches other hosts by `enter_host`."""
        return subprocess.Popen(
            ["ip", "netns", "exec", self.name(host), os.environ["TEST_SLIMGRAPH_COMMAND"], *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, SLIM_HOSTS_PREFIX=self.prefix, SLIM_HOSTS_GROUPS="",
                     HYDRA_LAUNCHER_EXEC=os.path.join(HERE, "enter_host"), **environment))

    def cut(self, host):
        ip("-n", self.switch, "link", "set", f"v{host}", "down")

    def heal(self, host):
        ip("-n", self.switch, "link", "set", f"v{host}", "up")

    def cut_between(self, sender, receiver):
        """What `sender` sends to `receiver` arrives nowhere. All other links stay as they are."""
        ip("-n", self.name(sender), "neigh", "replace", f"{NET}{receiver}", "dev", "eth0",
           "lladdr", "02:00:00:00:00:99", "nud", "permanent")

    def processes(self, host):
        done = subprocess.run(["ip", "netns", "pids", self.name(host)], capture_output=True,
                              text=True, check=False)
        return [int(word) for word in done.stdout.split()]

    def nodes(self):
        """The job's slimgraph processes on all hosts, without those of mpiexec."""
        return [process for host in range(1, self.count + 1) for process in self.processes(host)
                if program(process) == "slimgraph"]

    def signal(self, host, number, only=None):
        for process in self.processes(host):
            try:
                if only is None or program(process) == only:
                    os.kill(process, number)
            except ProcessLookupError:
                pass

    def kill(self, host):
        self.signal(host, signal.SIGKILL)

    def _make(self):
        ip("netns", "add", self.switch)
        ip("-n", self.switch, "link", "set", "lo", "up")
        ip("-n", self.switch, "link", "add", "br0", "type", "bridge")
        ip("-n", self.switch, "addr", "add", f"{NET}254/24", "dev", "br0")
        ip("-n", self.switch, "link", "set", "br0", "up")
        for host in range(1, self.count + 1):
            name = self.name(host)
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", f"v{host}",
               "netns", self.switch)
            ip("-n", self.switch, "link", "set", f"v{host}", "master", "br0")
            ip("-n", self.switch, "link", "set", f"v{host}", "up")
            ip("-n", name, "addr", "add", f"{NET}{host}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            if self.rate:
                subprocess.run(["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "eth0",
                                "root", "tbf", "rate", self.rate, "burst", "256k", "latency",
                                "50ms"], check=True)
        if self.slow:
            self._slow_down()

    def _slow_down(self):
        group = os.path.join(self.groups, self.name(self.slow))
        os.mkdir(group)
        files = {"cpu.max": "2000 40000"} if os.path.exists(os.path.join(group, "cpu.max")) else \
            {"cpu.cfs_period_us": "40000", "cpu.cfs_quota_us": "2000"}
        for name, value in files.items():
            with open(os.path.join(group, name), "w", encoding="ascii") as file:
                file.write(value)
