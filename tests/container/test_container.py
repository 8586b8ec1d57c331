"""operatord as a container's entrypoint: PID 1 of an image, as an ordinary user with a read-only root and no capabilities."""

import base64
import json
import os
import re
import signal
import urllib.parse

import pytest

from kubeclient import load
from podman import IMAGE, state_of
from programs import Failed, wait_for


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        return dict(re.findall(r"^(\w+):\s*(.*)$", file.read(), re.M))


def workers_of(first):
    with open(f"/proc/{first}/task/{first}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]


def test_what_the_image_is(podman):
    image = podman.inspect("image", IMAGE)
    print(f"image: {image['Size'] / 1e6:.0f} MB, of it the base {podman.inspect('image', 'localhost/operatord-test-base:bookworm')['Size'] / 1e6:.0f} MB")
    config = image["Config"]
    assert config["Entrypoint"] == ["/usr/sbin/operatord"] and not config.get("Cmd")
    assert config["User"] == "65532:65532"
    assert config["Labels"]["org.opencontainers.image.title"] == "operatord"
    options = ["--rm", "--network=none", "--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096"]
    said = podman.run("run", *options, "--entrypoint", "sh", IMAGE, "-c", "id -u; command -v gcc make operatord-devserver; operatorctl --help")
    lines = said.stdout.splitlines()
    assert lines[0] == "65532" and lines[1].startswith("usage: operatorctl"), lines[:3]
    assert podman.run("run", *options, IMAGE, "--version").stdout.startswith("operatord ")


def test_read_only_root_ordinary_user_no_capabilities(pod):
    """E189. Not one file system can be written to, nobody has a name, and the main job is done."""
    pod.put("config/operatord.yaml", pod.document("greeting"))
    pod.start("--read-only-tmpfs=false")
    pod.wait_ready()
    first = pod.container.first()
    for pid in (first, *workers_of(first)):
        status = status_of(pid)
        assert status["Uid"].split() == ["65534"] * 4, status["Uid"]
        assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == int(status["CapBnd"], 16) == 0
        assert status["NoNewPrivs"] == "1"
    assert status_of(first)["NSpid"].split()[-1] == "1" and len(workers_of(first)) == 1
    pod.greet("hello")
    assert pod.container.exec("sh", "-c", "echo > /etc/operatord/x || echo > /tmp/x || echo > /run/operatord/x", check=False).returncode != 0
    assert "no control socket" in pod.container.log()
    pod.container.signal(signal.SIGTERM)
    assert pod.container.wait(5) == 0, pod.container.tail()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT], ids=lambda number: number.name)
def test_signals_that_stop(pod, number):
    """E193. PID 1 has no default dispositions: what it does not handle does nothing."""
    pod.put("config/operatord.yaml", pod.document("greeting"))
    pod.start()
    pod.wait_ready()
    os.kill(pod.container.first(), number)
    assert pod.container.wait(5) == 0, pod.container.tail()
    assert '"msg":"stopped"' in pod.container.log()


def test_operatorctl_inside(pod):
    """With an emptyDir at /run/operatord operatorctl needs no option."""
    pod.put("config/operatord.yaml", pod.document("greeting"))
    pod.start(*pod.empty_directory("/run/operatord"), user="65532")
    pod.wait_ready()
    workers = json.loads(pod.container.exec("operatorctl", "status", "-o", "json").stdout)["workers"]
    assert [(worker["name"], worker["state"]) for worker in workers] == [("greeting", "live")]
    pod.put("config/conf.d/nginx.yaml", json.dumps({"version": 1, "controllers": json.loads(pod.document("nginx"))["controllers"]}))
    assert pod.container.exec("operatorctl", "reload").returncode == 0
    pod.wait_ready()
    assert len(workers_of(pod.container.first())) == 2


def test_orphans_are_reaped(pod):
    """E187. PID 1 is the parent of whatever loses its own."""
    pod.put("config/operatord.yaml", pod.document("greeting"))
    pod.start()
    pod.wait_ready()
    before = set(pod.container.processes())
    pod.container.exec("sh", "-c", "for i in $(seq 100); do (sh -c 'sleep 0.2 & sleep 0.1 &' &); done")
    wait_for("only operatord's processes, none of them a zombie",
             lambda: set(pod.container.processes()) == before and "Z" not in pod.container.processes().values())
    assert pod.http("/readyz")[0] == 200


def test_a_killed_worker_comes_back(pod):
    pod.put("config/operatord.yaml", pod.document("greeting"))
    pod.start()
    pod.wait_ready()
    first = pod.container.first()
    old = workers_of(first)
    os.kill(old[0], signal.SIGKILL)
    wait_for("another worker", lambda: workers_of(first) and workers_of(first) != old and state_of(workers_of(first)[0]) != "Z")
    pod.greet("after")


def test_a_worker_that_the_kernel_ends_for_memory(pod):
    """The limit is the container's: the worker goes, PID 1 stays, and says what it was."""
    pod.put("config/operatord.yaml", pod.document("greeting", "nginx", defaults={"paused": True}))
    try:
        pod.start("--memory=40m", "--memory-swap=40m")
        pod.wait_ready()
    except Failed as failure:
        if "cgroup" in pod.container.log():
            pytest.skip(f"no memory limit for containers here: {failure}")
        raise
    first = pod.container.first()
    text = "x" * 500_000

    def ended():
        for number in range(10):
            pod.objects.create(pod.objects.greeting(), "Greeting", f"big-{len(made)}-{number}", spec={"audience": text})
        made.append(text)
        return "killed by SIGKILL (the kernel was out of memory)" in pod.container.log()

    made = []
    wait_for("the kernel ends a worker", ended, seconds=60)
    assert pod.container.running() and pod.container.first() == first and pod.http("/livez")[0] == 200
    assert '"controller":"greeting"' in next(line for line in pod.container.log().splitlines() if "out of memory" in line)


def swap(pod, volume, files, generation):
    """What a kubelet does for a changed ConfigMap, Secret or token: a new directory, and ..data renamed onto it."""
    for name, text in files.items():
        pod.put(f"{volume}/..{generation}/{name}", text)
        if not os.path.lexists(pod.path(f"{volume}/{name}")):
            os.symlink(f"..data/{name}", pod.path(f"{volume}/{name}"))
    os.symlink(f"..{generation}", pod.path(f"{volume}/..data_tmp"))
    os.rename(pod.path(f"{volume}/..data_tmp"), pod.path(f"{volume}/..data"))


def test_a_swapped_config_map(pod):
    pod.mounts = {"map": "/etc/operatord", "credentials": "/credentials"}
    swap(pod, "map", {"operatord.yaml": pod.document("greeting", reload="auto")}, 1)
    pod.start()
    pod.wait_ready()
    first = pod.container.first()
    old = workers_of(first)
    swap(pod, "map", {"operatord.yaml": pod.document("greeting", "nginx", reload="auto")}, 2)
    wait_for("a second worker", lambda: len(workers_of(first)) == 2)
    assert old[0] in workers_of(first)
    pod.wait_ready()


def test_a_service_account_whose_token_is_rotated(pod):
    """No kubeconfig: the files and variables that a kubelet gives a pod."""
    server = urllib.parse.urlsplit(pod.cluster["server"])
    account, files = "/var/run/secrets/kubernetes.io/serviceaccount", {"namespace": pod.namespace}
    files["ca.crt"] = base64.b64decode(pod.cluster["certificate-authority-data"]).decode()
    document = json.loads(pod.document("greeting"))
    del document["cluster"]
    pod.put("config/operatord.yaml", json.dumps(document))
    pod.mounts = {"config": "/etc/operatord", "account": account}
    swap(pod, "account", {**files, "token": "expired"}, 1)
    pod.start("--env", f"KUBERNETES_SERVICE_HOST={server.hostname}", "--env", f"KUBERNETES_SERVICE_PORT={server.port}")
    wait_for("unauthorized", lambda: "unauthorized" in pod.http("/healthz?verbose")[1] + pod.http("/readyz?verbose")[1])
    old = workers_of(pod.container.first())
    swap(pod, "account", {**files, "token": pod.user["token"]}, 2)
    pod.wait_ready(seconds=40)
    assert workers_of(pod.container.first()) == old
    pod.greet("account")


def test_nothing_is_executed_from_what_can_be_written(pod):
    """E191. Each writable mount is noexec; a credential program at a path of its own runs."""
    document = load(pod.path("credentials/kubeconfig"))[0]
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": pod.user["token"]}}
    document["users"][0]["user"] = {"exec": {"apiVersion": answer["apiVersion"], "command": "/plugins/token", "interactiveMode": "Never"}}
    pod.put("credentials/kubeconfig", json.dumps(document))
    pod.put("plugins/token", f"#!/bin/sh\necho '{json.dumps(answer)}'\n", mode=0o755)
    pod.put("config/operatord.yaml", pod.document("greeting"))
    pod.mounts["plugins"] = "/plugins"
    writable = ("/tmp", "/var/tmp", "/run/operatord")
    pod.start("--read-only-tmpfs=false", *(word for inside in writable for word in pod.empty_directory(inside)))
    pod.wait_ready()
    pod.greet("plugin")
    inside = pod.container.exec("sh", "-c", f"find {' '.join(writable)} ! -type d").stdout.split()
    assert all(name.startswith("/run/operatord/control.sock") for name in inside), inside
