#!/usr/bin/python3
"""The figures of the main job, measured on the development server: memory, change to child, writes, stop, restart.

    tests/bench/figures.py --build build [--rounds 200]
    tests/bench/figures.py --build build --only-growth --growth 500

One table: measure, figure, target. The machine is noisy: a figure is one run's; compare those of one run with each other.
Memory is anonymous memory (Pss_Anon + Pss_Shmem of /proc/PID/smaps_rollup) summed over supervisor and workers; file pages stand beside it.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from kubeclient import Kube, load, path_of  # noqa: E402
from programs import DevServer, Operatord, free_port, http_get, wait_for  # noqa: E402

EXAMPLES = os.path.join(TOP, "examples")
NGINX = path_of("nginx", "stable.underneathall.com/v1", "default")
DEPLOYMENTS = path_of("deployments", "apps/v1", "default")
NOISE_KIB = 128  # of malloc: 13 bytes a death when there are 10 000
CRDS = path_of("customresourcedefinitions", "apiextensions.k8s.io/v1")


def tree(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [pid] + [each for child in file.read().split() for each in tree(int(child))]


def memory(pid):
    """(anonymous, all) bytes of a process tree, proportionally shared."""
    anonymous = everything = 0
    for each in tree(pid):
        with open(f"/proc/{each}/smaps_rollup", encoding="ascii") as file:
            fields = {line.split(":")[0]: int(line.split()[1]) for line in file if line.endswith("kB\n")}
        anonymous += fields["Pss_Anon"] + fields["Pss_Shmem"]
        everything += fields["Pss"]
    return anonymous * 1024, everything * 1024


class Bench:
    def __init__(self, build, directory):
        self.build, self.directory = build, directory
        self.server = DevServer(build, directory)
        self.kube = Kube(self.server.kubeconfig)
        self.port = free_port()
        self.config = os.path.join(directory, "operatord.yaml")
        self.operatord = None
        self.rows = []
        for name in ("nginx", "uuid"):
            self.kube.create(CRDS, load(f"{EXAMPLES}/crds/{name}.yaml")[0])
        wait_for("nginx served", lambda: self.kube.get(NGINX) is not None)

    def row(self, measure, figure, target=""):
        self.rows.append((measure, figure, target))
        print(f"{measure:<64} {figure:>24}   {target}", flush=True)

    def configure(self, controllers, **top):
        document = {"version": 1, "http": {"listen": f"127.0.0.1:{self.port}"}, "controllers": controllers, **top}
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump(document, file)
        os.chmod(self.config, 0o644)

    def start(self, controllers, **top):
        self.configure(controllers, **top)
        self.operatord = Operatord(self.build, self.directory, self.config, kubeconfig=self.server.kubeconfig)
        self.operatord.wait_live(*[c["name"] for c in controllers], seconds=60)

    def stop(self):
        start = time.monotonic()
        assert self.operatord.stop() == 0, self.operatord.tail()
        return time.monotonic() - start

    def writes(self):
        text = http_get(f"http://127.0.0.1:{self.port}/metrics")[1]
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                   if line.startswith("rest_client_requests_total") and 'method="GET"' not in line)

    def wakes(self):
        """Voluntary context switches of the supervisor and of each worker."""
        found = []
        for pid in tree(self.operatord.pid):
            with open(f"/proc/{pid}/status", encoding="ascii") as file:
                found.append(next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches")))
        return found

    def reload(self):
        return subprocess.run([os.path.join(self.build, "operatorctl"), "--control", self.operatord.control, "reload"],
                              capture_output=True, check=False).returncode

    # --- rows ---

    def memory_rows(self):
        def watcher(i):
            return {"name": f"w{i}", "resource": "uuid.v1.demo.operator", "namespaces": [f"none-{i}"]}
        figures = []
        for n in (1, 2, 10):
            self.start([watcher(i) for i in range(n)])
            time.sleep(2)  # idle memory is meant: let the start's work end
            figures.append(memory(self.operatord.pid))
            self.stop()
        one, two, ten = figures
        self.row("supervisor + 1 worker, live TLS watch: anonymous (all Pss) MiB", f"{one[0] / 2**20:.2f} ({one[1] / 2**20:.1f})", "<= 2")
        self.row("each further worker, 1 to 10: anonymous MiB", f"{(ten[0] - one[0]) / 9 / 2**20:.2f}", "<= 0.8")

    def latency_row(self, rounds):
        seen = {}
        ready = threading.Event()

        def watch():
            ready.set()
            for event in self.kube.watch(DEPLOYMENTS, 3600):
                if event["type"] == "MODIFIED":
                    seen.setdefault(event["object"]["spec"]["replicas"], time.monotonic())
        thread = threading.Thread(target=watch, daemon=True)
        self.kube.create(NGINX, {"apiVersion": "stable.underneathall.com/v1", "kind": "Nginx", "metadata": {"name": "bench"},
                                 "spec": {"replicas": 1}})
        wait_for("the Deployment", lambda: self.kube.get_or_none(DEPLOYMENTS + "/bench-deploy"))
        thread.start()
        ready.wait()
        time.sleep(0.5)
        delays = []
        for i in range(1000, 1000 + rounds):
            self.kube.merge(f"{NGINX}/bench", {"spec": {"replicas": i}})
            acknowledged = time.monotonic()
            at = wait_for("the child", lambda n=i: seen.get(n), pause=0.0005)
            delays.append(max(0.0, at - acknowledged) * 1000)
            time.sleep(0.08)  # below the default limit of 50 writes a second: a change is three writes here
        delays.sort()
        self.row(f"change acknowledged -> child seen changed, {rounds} changes: p50, p99 ms",
                 f"{statistics.median(delays):.1f}, {delays[int(len(delays) * 0.99) - 1]:.1f}", "peers: 3.8, 6.9")

    def writes_rows(self, count):
        before = self.writes()
        for i in range(count):
            self.kube.create(NGINX, {"apiVersion": "stable.underneathall.com/v1", "kind": "Nginx", "metadata": {"name": f"n{i}"},
                                     "spec": {"replicas": 1}})
        wait_for("all Deployments", lambda: len(self.kube.items(DEPLOYMENTS)) >= count + 1)

        def settled():
            now = self.writes()
            time.sleep(1.5)
            return self.writes() == now and now
        after = wait_for("quiet", settled, seconds=60)
        self.row(f"writes per new object (child, status, Event), {count} objects", f"{(after - before) / count:.2f}",
                 "2 + 1 Event + 1 status as the child becomes ready")
        quiet, woken = self.writes(), self.wakes()
        time.sleep(30)
        after = self.wakes()
        self.row("writes in a quiet half minute", f"{self.writes() - quiet:.0f}", "0")
        self.row("wake-ups in it: supervisor, worker", ", ".join(str(b - a) for a, b in zip(woken, after)), "6, 6: the heartbeats")

    def restart_row(self):
        """One death: a second one in a row waits by policy, which is not the program's own time."""
        pid = self.operatord.workers()["nginx"]["pid"]
        start = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        self.kube.merge(f"{NGINX}/bench", {"spec": {"replicas": 5000}})
        wait_for("handled", lambda: self.kube.get(DEPLOYMENTS + "/bench-deploy")["spec"]["replicas"] == 5000, pause=0.002)
        self.row("SIGKILL of a worker -> new change handled, cold start, ms", f"{(time.monotonic() - start) * 1000:.0f}",
                 "<= 50 with hand-over (not in yet)")

    def birth_row(self, count):
        """The supervisor's own time from a death to the next process, each worker's first death: a later one waits by policy."""
        self.start_watchers(count)
        path = f"/proc/{self.operatord.pid}/task/{self.operatord.pid}/children"
        delays = []
        with open(path, encoding="ascii") as file:
            for worker in self.operatord.workers().values():
                before = set(file.read().split())
                start = time.monotonic()
                os.kill(worker["pid"], signal.SIGKILL)
                while True:
                    file.seek(0)
                    if set(file.read().split()) - before:
                        break
                delays.append((time.monotonic() - start) * 1000)
                file.seek(0)
                time.sleep(0.1)  # its start takes time that is not the supervisor's
        self.row(f"death of a worker -> its next process, {count} deaths: p50, max ms", f"{statistics.median(delays):.1f}, {max(delays):.1f}", "<= 20")

    def start_watchers(self, count):
        self.start([{"name": f"w{i}", "resource": "uuid.v1.demo.operator", "namespaces": [f"none-{i}"]} for i in range(count)])

    def growth_row(self, rounds, reloads):
        """All workers killed, a reload starts them at once instead of after their delays; then reloads alone. True: nothing is more than before."""
        workers = len(self.operatord.workers())

        def kill_all():
            pids = [worker["pid"] for worker in self.operatord.workers().values() if worker["pid"]]
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            wait_for("all deaths noticed", lambda: not any(w["pid"] in pids for w in self.operatord.workers().values()))
            assert self.reload() == 0
            wait_for("all again", lambda: all(w["pid"] not in (0, *pids) for w in self.operatord.workers().values()))
        for _ in range(5):
            kill_all()
        before = self.own()
        for _ in range(rounds):
            kill_all()
        for _ in range(reloads):
            assert self.reload() == 0
        after = self.own()
        self.row(f"supervisor after {rounds * workers} deaths, {rounds + reloads} reloads: descriptors, zombies, anonymous KiB more",
                 ", ".join(str(b - a) for a, b in zip(before, after)), "0, 0, 0")
        self.stop()
        return after[0] <= before[0] and after[1] == 0 and after[2] - before[2] < NOISE_KIB

    def own(self):
        """Of the supervisor: descriptors, zombies, anonymous KiB."""
        pid, zombies = self.operatord.pid, 0
        for child in tree(pid)[1:]:
            with open(f"/proc/{child}/stat", encoding="utf-8") as file:
                zombies += file.read().rsplit(")", 1)[1].split()[0] == "Z"
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            anonymous = next(int(line.split()[1]) for line in file if line.startswith("Anonymous:"))
        return len(os.listdir(f"/proc/{pid}/fd")), zombies, anonymous

    def many_workers_row(self, count):
        controllers = [{"name": f"w{i}", "resource": "uuid.v1.demo.operator", "namespaces": [f"none-{i}"]} for i in range(count)]
        start = time.monotonic()
        self.start(controllers)
        self.row(f"{count} workers started and live, s", f"{time.monotonic() - start:.2f}", "<= 5")
        anonymous, everything = memory(self.operatord.pid)
        self.row(f"{count} workers: anonymous (all Pss) MiB", f"{anonymous / 2**20:.0f} ({everything / 2**20:.0f})")
        self.configure([])
        assert self.reload() == 0
        wait_for("all gone", lambda: not self.operatord.workers())
        self.configure(controllers)
        start = time.monotonic()
        assert self.reload() == 0
        self.operatord.wait_live(*[c["name"] for c in controllers], seconds=60)
        self.row(f"{count} controllers added by one reload and live, s", f"{time.monotonic() - start:.2f}", "<= 5")
        self.row(f"{count} workers: stop, s", f"{self.stop():.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--workers", type=int, default=200)
    parser.add_argument("--growth", type=int, default=25, metavar="N", help="N times 20 deaths, and 2 N reloads (default 25; 500 are 10 000 and 1 000)")
    parser.add_argument("--only-growth", action="store_true", help="only the row of --growth; exit code 1 when something grew")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="operatord-bench-") as directory:
        bench = Bench(os.path.abspath(options.build), directory)
        try:
            if options.only_growth:
                bench.start_watchers(20)
                return 0 if bench.growth_row(options.growth, options.growth) else 1
            bench.memory_rows()
            nginx = load(f"{EXAMPLES}/nginx.yaml")[0]["controllers"]
            bench.start(nginx)
            bench.latency_row(options.rounds)
            bench.writes_rows(50)
            bench.restart_row()
            bench.row("stop when idle, ms", f"{bench.stop() * 1000:.0f}", "<= 200")
            bench.birth_row(20)
            bench.growth_row(options.growth, options.growth)
            bench.many_workers_row(options.workers)
        finally:
            for program in (bench.operatord, bench.server):
                if program is not None and program.running():
                    program.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
