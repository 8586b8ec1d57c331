#!/usr/bin/python3
"""The main job, step by step, on the development server. Run by scripts/demo, which builds first.

Each step waits for what it claims and fails when that is not seen in time; the exit code is 0 only if all were seen.
"""

import argparse
import os
import re
import shutil
import signal
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from kubeclient import Kube, load, path_of  # noqa: E402
from programs import DevServer, Failed, Operatord, free_port, http_get, wait_for  # noqa: E402

EXAMPLES = os.path.join(TOP, "examples")
NGINX = path_of("nginx", "stable.underneathall.com/v1", "default")
UUID = path_of("uuid", "demo.operator/v1", "default")
GREETINGS = path_of("greetings", "demo.operator/v1", "default")
DEPLOYMENTS = path_of("deployments", "apps/v1", "default")
CRDS = path_of("customresourcedefinitions", "apiextensions.k8s.io/v1")
COLOUR = sys.stdout.isatty() and "NO_COLOR" not in os.environ


class Demo:
    def __init__(self, build, directory):
        self.build, self.directory = build, directory
        self.server = self.operatord = self.kube = None
        self.port = free_port()
        self.started = time.monotonic()

    def seen(self, text):
        mark = "\033[32mseen\033[0m" if COLOUR else "seen"
        print(f"{mark} {time.monotonic() - self.started:5.1f} s  {text}", flush=True)

    # --- the steps, in order ---

    def start_server(self):
        self.server = DevServer(self.build, self.directory)
        self.kube = Kube(self.server.kubeconfig)
        version = self.kube.get("/version")["gitVersion"]
        self.seen(f"development server {version} at https://{self.kube.host}:{self.kube.port}")

    def serve_crds(self):
        for name in ("nginx", "uuid"):
            crd = load(f"{EXAMPLES}/crds/{name}.yaml")[0]
            self.kube.create(CRDS, crd)
            wait_for(f"CRD {crd['metadata']['name']} established", lambda c=crd: self._established(c))
            self.seen(f"CRD {crd['metadata']['name']} served")

    def _established(self, crd):
        answer = self.kube.get(f"{CRDS}/{crd['metadata']['name']}")
        return any(c["type"] == "Established" and c["status"] == "True" for c in answer["status"]["conditions"])

    def start_operatord(self):
        config = os.path.join(self.directory, "operatord.yaml")
        with open(f"{EXAMPLES}/operatord.yaml", encoding="utf-8") as file:
            text = re.sub(r"listen: \S+", f"listen: 127.0.0.1:{self.port}", file.read())
        with open(config, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(config, 0o644)
        os.mkdir(os.path.join(self.directory, "conf.d"), 0o755)
        self.operatord = Operatord(self.build, self.directory, config, kubeconfig=self.server.kubeconfig)
        self.operatord.wait_live("nginx", "uuid")
        pids = {name: worker["pid"] for name, worker in self.operatord.workers().items()}
        self.seen(f"operatord (pid {self.operatord.pid}) with a worker process a CRD: {pids}")

    def follow_nginx(self):
        nginx = load(f"{EXAMPLES}/objects/nginx.yaml")[0]
        name = nginx["metadata"]["name"]
        self.kube.create(NGINX, nginx)
        child = f"{DEPLOYMENTS}/{name}-deploy"
        wanted = nginx["spec"]["replicas"]
        wait_for("its Deployment", lambda: self.kube.get(child)["spec"]["replicas"] == wanted)
        self.seen(f"Nginx {name} created: Deployment {name}-deploy with {wanted} replicas")
        self.kube.merge(f"{NGINX}/{name}", {"spec": {"replicas": wanted + 3}})
        wait_for("the new number of replicas", lambda: self.kube.get(child)["spec"]["replicas"] == wanted + 3)
        self.seen(f"spec.replicas changed to {wanted + 3}: the Deployment follows")
        wait_for("the status", lambda: self.kube.get(f"{NGINX}/{name}")["status"]["readyReplicas"] == wanted + 3)
        self.seen(f"status of Nginx {name}: readyReplicas {wanted + 3}, Ready")
        uid = self.kube.get(child)["metadata"]["uid"]
        self.kube.delete(child)
        wait_for("the Deployment again", lambda: self.kube.get(child)["metadata"]["uid"] != uid)
        self.seen(f"Deployment {name}-deploy deleted by hand: repaired")

    def fill_uuid(self):
        uuid = load(f"{EXAMPLES}/objects/uuid.yaml")[0]
        path = f"{UUID}/{uuid['metadata']['name']}"
        self.kube.create(UUID, uuid)
        status = wait_for("its status", lambda: self.kube.get(path).get("status"))
        if status["state"] != "Ok" or not re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
                                                       status["uuid"]):
            raise Failed(f"not the status that was expected: {status}")
        self.seen(f"Uuid {uuid['metadata']['name']} created: state {status['state']}, uuid {status['uuid']}")

    def add_crd(self):
        before = {name: worker["pid"] for name, worker in self.operatord.workers().items()}
        self.kube.create(CRDS, load(f"{EXAMPLES}/crds/greeting.yaml")[0])
        shutil.copy(f"{EXAMPLES}/greeting.yaml", os.path.join(self.directory, "conf.d"))
        self.operatord.ctl("reload")
        self.operatord.wait_live("nginx", "uuid", "greeting")
        after = {name: worker["pid"] for name, worker in self.operatord.workers().items()}
        if {name: after[name] for name in before} != before:
            raise Failed(f"the other workers' pids changed: {before} before, {after} after")
        greeting = load(f"{EXAMPLES}/objects/greeting.yaml")[0]
        self.kube.create(GREETINGS, greeting)
        child = path_of("configmaps", "v1", "default", greeting["metadata"]["name"])
        wait_for("the ConfigMap of the third CRD", lambda: self.kube.get_or_none(child))
        self.seen(f"a file dropped into conf.d and a reload: worker greeting (pid {after['greeting']}), "
                  "the others keep their pids")

    def kill_worker(self):
        pid = self.operatord.workers()["nginx"]["pid"]
        os.kill(pid, signal.SIGKILL)
        wait_for("a new worker", lambda: self.operatord.workers()["nginx"]["pid"] not in (pid, 0, None))
        self.operatord.wait_live("nginx", "uuid", "greeting")
        name = load(f"{EXAMPLES}/objects/nginx.yaml")[0]["metadata"]["name"]
        self.kube.merge(f"{NGINX}/{name}", {"spec": {"replicas": 2}})
        wait_for("a change after the restart", lambda: self.kube.get(f"{DEPLOYMENTS}/{name}-deploy")["spec"]["replicas"] == 2)
        self.seen(f"worker nginx (pid {pid}) killed with SIGKILL: back again, and it follows changes")

    def show_health(self):
        base = f"http://127.0.0.1:{self.port}"
        for path in ("/livez", "/healthz", "/readyz"):
            status, text, _ = http_get(base + path)
            if status != 200:
                raise Failed(f"{path} answers {status}: {text}")
        self.seen("/livez, /healthz and /readyz answer 200")
        _, text, _ = http_get(base + "/metrics")
        wanted = ("controller_runtime_reconcile_total", "operatord_worker_restarts_total", "operatord_drift_repairs_total")
        lines = [line for line in text.splitlines() if line.startswith(wanted) and not line.endswith(" 0")]
        if not any(line.startswith("operatord_worker_restarts_total") for line in lines):
            raise Failed("no operatord_worker_restarts_total on /metrics")
        self.seen("/metrics, some of it:")
        print("\n".join("              " + line for line in lines[:8]))

    def stop(self):
        code = self.operatord.stop()
        if code != 0:
            raise Failed(f"operatord left with {code}:\n{self.operatord.tail()}")
        self.seen("SIGTERM: operatord and its workers stopped cleanly, exit code 0")

    def run(self, keep):
        self.start_server()
        self.serve_crds()
        self.start_operatord()
        self.follow_nginx()
        self.fill_uuid()
        self.add_crd()
        self.kill_worker()
        self.show_health()
        if keep:
            self.keep()
        self.stop()

    def keep(self):
        print(f"\nStill running. In another terminal:\n  export KUBECONFIG={self.server.kubeconfig}\n  kubectl get nginx,uuid -A\n"
              f"  {self.build}/operatorctl --control {self.operatord.control} status\nCtrl-C ends it.")
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            while self.operatord.running() and self.server.running():
                time.sleep(0.5)
        except KeyboardInterrupt:
            print()

    def clean_up(self):
        for program in (self.operatord, self.server):
            if program is not None and program.running():
                program.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="the build directory")
    parser.add_argument("--keep", action="store_true", help="leave it running until Ctrl-C")
    options = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="operatord-demo-")
    demo = Demo(os.path.abspath(options.build), directory)
    try:
        demo.run(options.keep)
    except (Failed, OSError, KeyError) as error:
        print(f"\nFAILED: {error}\nlogs are kept in {directory}", file=sys.stderr)
        demo.clean_up()
        return 1
    except KeyboardInterrupt:
        demo.clean_up()
        return 130
    demo.clean_up()
    shutil.rmtree(directory, ignore_errors=True)
    print(f"all seen in {time.monotonic() - demo.started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
