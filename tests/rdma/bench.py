#!/usr/bin/env python3
"""tests/rdma/bench.py [--rounds N] [--device NAME]: compares our latencies with perftest's.

Both ends use one device, and the programs take turns in each round. Without a device, runs in the
virtual machine. `make bench-rdma` starts it; TEST_SLIMGRAPH_COMMAND names the command.
"""
import argparse, json, os, re, shutil, statistics, subprocess, sys, time

COMMAND = os.environ["TEST_SLIMGRAPH_COMMAND"]
MACHINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "machine.py")
DEVICES = "/sys/class/infiniband"
READ_BAR = 1.2
LIMIT_S = 60
# (our operation, bytes, perftest's program, factor): perftest reports half of a round trip for
# messages, so its latency is multiplied by the factor.
ROWS = ([("read", size, ["ib_read_lat"], 1) for size in (8, 64, 512, 4096, 65536)]
        + [("fetch-and-add", 8, ["ib_atomic_lat", "-A", "FETCH_AND_ADD"], 1),
           ("compare-and-swap", 8, ["ib_atomic_lat", "-A", "CMP_AND_SWAP"], 1),
           ("message there and back", 8, ["ib_send_lat", "-c", "UD"], 2),
           ("message there and back", 1024, ["ib_send_lat", "-c", "UD"], 2)])


def theirs(program, size, device):
    """The typical latency in microseconds that perftest's program reports."""
    command = [*program, "-d", device, "-n", "1000"]
    if "-A" not in program:
        command += ["-s", str(size)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(50):  # until the server listens
            time.sleep(0.1)
            done = subprocess.run([*command, "127.0.0.1"], capture_output=True, text=True,
                                  check=False, timeout=LIMIT_S)
            row = re.search(rf"^ *{size} +\d+ +[\d.]+ +[\d.]+ +([\d.]+)", done.stdout, re.M)
            if row:
                return float(row[1])
        sys.exit(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    finally:
        server.kill()
        server.wait()


def ours(device):
    """Our latencies in microseconds by operation and size."""
    done = subprocess.run([COMMAND, "bench", "fabric", "--transport", "verbs", "--max-bytes", "64K",
                           "--seconds", "0.3", "--json"], capture_output=True, text=True,
                          check=False, timeout=LIMIT_S,
                          env=dict(os.environ, SLIMGRAPH_VERBS_DEVICE=device))
    if done.returncode:
        sys.exit(f"bench fabric: {done.stderr.strip()}")
    return {(row["operation"], row["bytes"]): row["latency_us"]
            for row in json.loads(done.stdout)["result"]["rows"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--device", help="default: the first")
    options = parser.parse_args()
    if not shutil.which("ib_read_lat"):
        sys.exit("bench-rdma: there is no ib_read_lat; apt install perftest")
    devices = sorted(os.listdir(DEVICES)) if os.path.isdir(DEVICES) else []
    if not devices:
        os.execv(MACHINE, [MACHINE, "--limit-s", "1800", os.path.abspath(__file__), *sys.argv[1:]])
    device = options.device or devices[0]
    taken = {row[:2]: ([], []) for row in ROWS}
    for _ in range(options.rounds):
        own = ours(device)
        for name, size, program, times in ROWS:
            taken[name, size][0].append(own[name, size])
            taken[name, size][1].append(times * theirs(program, size, device))
    print(f"medians of {options.rounds} rounds in turn, both ends on {device}, us")
    print(f"{'operation':24} {'bytes':>6} {'slimgraph':>10} {'perftest':>10} {'ratio':>6}")
    for name, size, _, _ in ROWS:
        mine, other = (statistics.median(values) for values in taken[name, size])
        bar = f"  bar {READ_BAR}" if name == "read" else ""
        print(f"{name:24} {size:6} {mine:10.2f} {other:10.2f} {mine / other:6.2f}{bar}")


if __name__ == "__main__":
    main()
