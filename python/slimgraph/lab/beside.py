"""`python3 -m slimgraph.lab beside K PROGRAM WORD…` runs K copies of a job side by side, and
reports how long they took together: from the start of the first to the end of the last."""
import json
import subprocess
import sys
import time


def run_beside(words):
    count, command = int(words[0]), words[1:]
    began_s = time.monotonic()
    jobs = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True) for _ in range(count)]
    ends = [job.communicate() for job in jobs]
    together_s = time.monotonic() - began_s
    for job, (_, errors) in zip(jobs, ends):
        if job.returncode != 0:
            print(errors.rstrip("\n").rpartition("\n")[2], file=sys.stderr)
            return job.returncode if job.returncode > 0 else 128 - job.returncode
    report = json.loads(ends[0][0])
    report["result"] = {"jobs": count, "together_s": together_s, "jobs_per_s": count / together_s}
    print(json.dumps(report))
    return 0
