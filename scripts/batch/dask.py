#!/usr/bin/env python3
"""All tasks of a plan by Dask, on the workers of a scheduler that runs already:

    dask.py SCHEDULER PLAN OUT [OPTION OF symcache filter...]
    dask.py tcp://host:8786 /net/plan /net/out --input-root /net --store /net/all.store

What goes through Dask is the number of a task. Start workers with one thread each
(--nthreads 1): a task uses all cores that its worker may use. Exit status: 0 all tasks are
recorded; 1 some are not: they are printed. Then `symcache merge PLAN OUT`.
$SYMCACHE: the program, if it is not in PATH of the workers.
"""
import os
import subprocess
import sys

sys.path.pop(0)  # this folder: its dask.py is not the library
AGAIN = 75  # not now or not here


def run(command, number):
    """One task, on a worker. Dask tries again what raises an error."""
    done = subprocess.run(command + ["--task", str(number)], stderr=subprocess.PIPE, check=False)
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode == AGAIN or done.returncode < 0:
        raise RuntimeError(f"task {number}: status {done.returncode}: {said}")
    return done.returncode, said


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    from distributed import Client, as_completed

    scheduler, plan, out, *options = sys.argv[1:]
    symcache = os.environ.get("SYMCACHE", "symcache")
    command = [symcache, "filter", "--plan", plan, "-o", out, *options]
    with open(os.path.join(plan, "tasks"), encoding="ascii") as tasks:
        numbers = [int(line) for line in tasks]
    with Client(scheduler) as client:
        futures = client.map(lambda number: run(command, number), numbers, retries=3, pure=False)
        for future in as_completed(futures):
            if future.status == "error":
                print(future.exception(), file=sys.stderr)
                continue
            status, said = future.result()
            print(said, file=sys.stderr)
            if status:  # wrong usage or a damaged plan: so for all tasks
                client.cancel(futures)
                break
    sys.exit(subprocess.run([symcache, "merge", "--missing", plan, out], check=False).returncode)


if __name__ == "__main__":
    main()
