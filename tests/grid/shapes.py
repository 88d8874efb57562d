"""The shape of a job: nodes, compute nodes, threads, transport. And the check of its memory."""
from command import Wrong

MPI_NODES = 4  # more nodes over MPI take seconds to start on two processors


def draw(random, most_nodes=8):
    transport = random.choice(["shm"] * 6 + ["tcp"] * 3 + ["mpi"])
    nodes = random.randint(1, min(most_nodes, MPI_NODES) if transport == "mpi" else most_nodes)
    compute = 1 if random.random() < 0.5 else random.randint(1, nodes)
    words = ["--nodes", nodes, "--compute", compute, "--threads", random.choice([1, 1, 2, 3, 4]),
             "--transport", transport]
    if random.random() < 0.1:
        words += ["--network", random.choice(["fdr", "edr", "efa", "tcp10"])]
    return words


SINGLE = ["--nodes", 1, "--compute", 1, "--threads", 1, "--transport", "shm"]


def expect_memory_held(report):
    """Checks that each node's peak is at most 1.1 times its announced memory plus 8 MiB."""
    memory = report["memory"]
    for node, (announced, peak) in enumerate(zip(memory["announced_bytes"],
                                                 memory["peak_bytes"])):
        if peak > 1.1 * announced + (8 << 20):
            raise Wrong(f"node {node} announced {announced / 2**20:.1f} MiB and took "
                        f"{peak / 2**20:.1f} MiB")
