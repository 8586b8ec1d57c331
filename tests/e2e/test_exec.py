"""Credentials from a program that the kubeconfig names: workers and operatorctl run it, and what becomes of it when something dies."""

import base64
import json
import os
import signal

import pytest
import yaml

from programs import wait_for
from sites import controllers_of

API = "client.authentication.k8s.io/v1"
PROGRAM = """#!/bin/sh
cd "$(dirname "$0")" || exit 9
echo $$ >> runs
ulimit -d > memory
[ ! -f failing ] || { echo "$(cat failing)" >&2; exit 3; }
[ ! -f slow ] || exec sleep 300
exec cat answer
"""


def pem_of(user, key, directory):
    if user.get(key + "-data"):
        return base64.b64decode(user[key + "-data"]).decode()
    with open(os.path.join(directory, user[key]), encoding="utf-8") as file:
        return file.read()


class Plugin:
    """A kubeconfig like the server's, whose user is a program that prints the server's credentials."""

    def __init__(self, server, directory):
        self.directory = str(directory)
        with open(server.kubeconfig, encoding="utf-8") as file:
            config = yaml.safe_load(file)
        for user in config["users"]:
            status = self.status_of(user["user"], os.path.dirname(server.kubeconfig))
            user["user"] = {"exec": {"apiVersion": API, "interactiveMode": "Never", "command": "./program", "env": None,
                                     "provideClusterInfo": True}}
        for cluster in config["clusters"]:
            path = cluster["cluster"].get("certificate-authority")
            if path:
                cluster["cluster"]["certificate-authority"] = os.path.join(os.path.dirname(server.kubeconfig), path)
        self.write("answer", json.dumps({"kind": "ExecCredential", "apiVersion": API, "status": status}))
        self.write("program", PROGRAM)
        os.chmod(os.path.join(self.directory, "program"), 0o755)
        self.kubeconfig = self.write("exec.kubeconfig", yaml.safe_dump(config))

    @staticmethod
    def status_of(user, directory):
        if user.get("token"):
            return {"token": user["token"]}
        return {"clientCertificateData": pem_of(user, "client-certificate", directory),
                "clientKeyData": pem_of(user, "client-key", directory)}

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def remove(self, name):
        os.unlink(os.path.join(self.directory, name))

    def runs(self):
        """The pids of its runs so far."""
        try:
            with open(os.path.join(self.directory, "runs"), encoding="utf-8") as file:
                return [int(line) for line in file]
        except FileNotFoundError:
            return []


@pytest.fixture
def plugin(server, tmp_path):
    return Plugin(server, tmp_path)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def start(site, plugin, live=True):
    site.write(site.main(controllers_of("nginx")))
    site.start(*(["nginx"] if live else []), kubeconfig=plugin.kubeconfig)


def test_a_worker_and_operatorctl_use_it(site, objects, plugin):
    start(site, plugin)
    objects.create_nginx("web", {"replicas": 1})
    wait_for("the Deployment", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")))
    assert len(plugin.runs()) == 1
    worker = site.pids()["nginx"]
    runner, = children(worker)
    assert children(runner) == [], "no zombie, no keeper"
    assert "web" in site.operatord.ctl("list", "nginx", "-n", site.namespace)
    assert len(plugin.runs()) == 2
    assert site.operatord.stop() == 0
    wait_for("the runner's end", lambda: gone(runner))


def test_the_workers_memory_is_not_its_own(site, plugin):
    """limits.memory bounds the worker, hard; a program that it needs has what the service has."""
    controllers = controllers_of("nginx")
    controllers[0]["limits"] = {"memory": "48Mi"}
    site.write(site.main(controllers))
    site.start("nginx", kubeconfig=plugin.kubeconfig)
    with open(f"/proc/{site.pids()['nginx']}/limits", encoding="ascii") as file:
        limit = next(line.split()[3:5] for line in file if line.startswith("Max data size"))
    with open(os.path.join(plugin.directory, "memory"), encoding="ascii") as file:
        assert file.read().strip() == "unlimited"
    assert limit in ([str(48 << 20)] * 2, ["unlimited"] * 2)  # the latter with sanitizers


def test_its_trouble_is_the_workers(site, plugin):
    """Its words are the cause; and once it works, so does the worker, in the same process."""
    plugin.write("failing", "please log in again")
    start(site, plugin, live=False)
    cause = wait_for("unauthorized", lambda: site.operatord.workers()["nginx"]["state"] == "unauthorized"
                     and site.operatord.workers()["nginx"]["cause"])
    assert "exited with code 3: please log in again" in cause
    failed = site.operatord.ctl("list", "nginx", check=False)
    assert failed.returncode != 0 and "please log in again" in failed.stderr
    pid = site.pids()["nginx"]
    plugin.remove("failing")
    site.operatord.wait_live("nginx", seconds=60)
    assert site.pids()["nginx"] == pid


def test_it_goes_with_the_supervisor(site, plugin):
    """E177"""
    plugin.write("slow", "")
    start(site, plugin, live=False)
    program = wait_for("a run", plugin.runs)[0]
    pid = site.pids()["nginx"]
    site.operatord.signal(signal.SIGKILL)
    site.operatord.wait()
    wait_for("the program's end", lambda: gone(program))
    wait_for("the worker's end", lambda: gone(pid))


def test_a_worker_without_its_runner_is_replaced(site, plugin):
    start(site, plugin)
    worker = site.pids()["nginx"]
    os.kill(children(worker)[0], signal.SIGKILL)
    wait_for("another worker", lambda: site.pids()["nginx"] not in (worker, 0, None))
    site.operatord.wait_live("nginx")
    assert children(site.pids()["nginx"]) != []
