"""All tasks of a plan by Spark. NOT TESTED: written from Spark's documents.

    spark-submit spark.py PLAN OUT [OPTION OF symcache filter...]

Spark sees the numbers of tasks only, never the bytes of logs: rdd.pipe() over the lines of a
log would cut it anywhere, and frames behind a cut have lost their modules. PLAN, OUT, logs and
store must be at the same paths on all executors (NFS, a FUSE mount of HDFS or S3). Speculative
execution does no harm. spark.task.maxFailures is how often a task is tried; set spark.task.cpus
to what one task may use.
"""
import os
import subprocess
import sys

from pyspark.sql import SparkSession


def run(number):
    done = subprocess.run([symcache, "filter", "--plan", plan, "--task", str(number), "-o", out,
                           *options], stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 2):  # 75 or a signal: again, maybe elsewhere
        raise RuntimeError(f"task {number}: {done.returncode}: {done.stderr.decode()}")
    return number, done.returncode, done.stderr.decode()


plan, out, *options = sys.argv[1:]
symcache = os.environ.get("SYMCACHE", "symcache")
with open(os.path.join(plan, "tasks"), encoding="ascii") as tasks:
    numbers = [int(line) for line in tasks]
spark = SparkSession.builder.appName("symcache").getOrCreate()
for number, status, said in spark.sparkContext.parallelize(numbers, len(numbers)).map(run).collect():
    if status:
        print(f"task {number}: {said}", file=sys.stderr)
sys.exit(subprocess.run([symcache, "merge", "--missing", plan, out], check=False).returncode)
