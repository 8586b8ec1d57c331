"""Workers are caged: what the kernel says of a real one, and that one without memory, or mad, leaves the others running."""

import base64
import os
import re
import subprocess

import pytest
import yaml

from kubeclient import load
from sites import controllers_of
from programs import wait_for

MIB = 1 << 20
OOM_SCORE_ADD = 300
DAC_READ_SEARCH = 1 << 2


def proc(pid, name):
    with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
        return file.read()


def status_of(pid):
    return dict(re.findall(r"^(\w+):\s*(.*)$", proc(pid, "status"), re.M))


def limits_of(pid):
    """{name: (soft, hard)}"""
    return {match[0]: match[1:] for match in re.findall(r"^(Max .*?) {2,}(\S+) +(\S+)", proc(pid, "limits"), re.M)}


def descriptors_of(pid):
    directory = f"/proc/{pid}/fd"
    return {int(fd): os.readlink(f"{directory}/{fd}") for fd in os.listdir(directory)}


def has_sanitizers(build):
    with open(os.path.join(build, "config.h"), encoding="utf-8") as file:
        return "#define WITH_SANITIZERS 1" in file.read()


def start_two(site, **limits):
    """nginx with the limits, uuid without."""
    controllers = controllers_of("nginx") + controllers_of("uuid")
    if limits:
        controllers[0]["limits"] = limits
    site.write(site.main(controllers))
    site.start("nginx", "uuid")
    return site.pids()


def test_what_the_kernel_says_of_a_worker(site):
    start_two(site)
    supervisor = int(proc(site.operatord.pid, "oom_score_adj"))
    for pid in site.pids().values():
        status = status_of(pid)
        assert status["Seccomp"] == "2" and status["NoNewPrivs"] == "1", status
        assert int(status["CapEff"], 16) | DAC_READ_SEARCH == DAC_READ_SEARCH, status
        assert int(status["CapPrm"], 16) | DAC_READ_SEARCH == DAC_READ_SEARCH, status
        assert int(status["CapInh"], 16) == int(status["CapAmb"], 16) == 0, status
        if os.geteuid() == 0:
            assert int(status["CapBnd"], 16) == 0, status
        assert limits_of(pid)["Max core file size"] == ("0", "0")
        assert int(proc(pid, "oom_score_adj")) == min(1000, supervisor + OOM_SCORE_ADD)
        assert os.stat(f"/proc/{pid}/environ").st_uid == 0, "it is not dumpable"
    assert status_of(site.operatord.pid)["Seccomp"] == "0"
    assert site.operatord.status()["sandboxMissing"] in (None, "Landlock")


def test_a_worker_holds_few_descriptors(site, objects):
    """E179: standard streams, two pipes, the scoreboard, and what its loop and connections need; no file."""
    start_two(site)
    objects.create_nginx("web", {"replicas": 1})
    wait_for("the Deployment", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")))
    found = descriptors_of(site.pids()["nginx"])
    assert found[0] == "/dev/null"
    assert found[1] == found[2] == site.operatord.log_path
    assert found[3].startswith("pipe:") and found[4].startswith("pipe:") and found[5].startswith("/memfd:operatord-scoreboard")
    for fd, what in found.items():
        assert fd <= 5 or what.startswith(("socket:", "pipe:", "anon_inode:")), found


def test_limits_are_the_kernels(site):
    pid = start_two(site, memory="48Mi", files=100)["nginx"]
    limits = limits_of(pid)
    assert limits["Max open files"] == ("100", "100")
    if not has_sanitizers(site.build):
        assert limits["Max data size"] == (str(48 * MIB), str(48 * MIB))


def test_one_without_memory_leaves_the_others_running(site, objects):
    """A render that asks for more than limits.memory ends its worker, and nobody else; without the object it is well again."""
    if has_sanitizers(site.build):
        pytest.skip("sanitizers map more than any limit")
    nginx, uuid = controllers_of("nginx"), controllers_of("uuid")
    nginx[0].update(limits={"memory": "32Mi"}, renderTimeout="10s")
    nginx[0]["children"][0]["when"] = "${[range(.spec.replicas)] | length >= 0}"
    site.write(site.main(nginx + uuid, heartbeat="30s"))
    site.start("nginx", "uuid")
    before = site.pids()
    objects.create_nginx("huge", {"replicas": 50000000})
    wait_for("a death", lambda: site.metric("operatord_worker_restarts_total", controller="nginx") >= 1, seconds=60)
    assert site.pids()["uuid"] == before["uuid"]
    objects.create(objects.uuid(), "Uuid", "beside")
    wait_for("a uuid", lambda: (objects.kube.get(objects.uuid("beside")).get("status") or {}).get("uuid"))
    objects.kube.delete(objects.nginx("huge"))
    site.operatord.wait_live("nginx", "uuid", seconds=90)
    assert site.pids()["uuid"] == before["uuid"] and site.http("/livez")[0] == 200


def test_a_full_store_is_named_and_no_death(site, objects):
    pids = start_two(site, memory="32Mi")
    ballast = "x" * 200000
    for i in range(150):
        objects.kube.create(objects.nginx(), {"apiVersion": "stable.underneathall.com/v1", "kind": "Nginx", "spec": {"replicas": 1},
                                              "metadata": {"name": f"big-{i}", "annotations": {"ballast": ballast}}})
    worker = wait_for("over-limit", lambda: site.operatord.workers()["nginx"]["state"] == "over-limit" and site.operatord.workers()["nginx"],
                      seconds=60)
    assert "limits.memory" in worker["cause"]
    assert site.pids() == pids


def kubeconfig_with_ca_file(site, ca_file):
    """The server's, but its certificate authority is read from the file; (path, the right content)."""
    document, base = load(site.server.kubeconfig)[0], os.path.dirname(site.server.kubeconfig)
    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
    for section, key in ((cluster, "certificate-authority"), (user, "client-certificate"), (user, "client-key"), (user, "tokenFile")):
        if key in section:
            section[key] = os.path.join(base, section[key])
    if "certificate-authority-data" in cluster:
        right = base64.b64decode(cluster.pop("certificate-authority-data"))
    else:
        with open(cluster["certificate-authority"], "rb") as file:
            right = file.read()
    cluster["certificate-authority"] = ca_file
    return site.write(yaml.safe_dump(document), "kubeconfig-with-ca-file"), right


def put(directory, content):
    os.makedirs(directory)
    with open(os.path.join(directory, "ca.crt"), "wb") as file:
        file.write(content)


def link(target, path):
    """Over what is there, as Kubernetes swaps the files of a volume."""
    os.symlink(target, path + ".new")
    os.rename(path + ".new", path)


@pytest.fixture
def foreign_ca(tmp_path):
    path = tmp_path / "foreign.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=somebody else", "-keyout", str(tmp_path / "foreign.key"), "-out", str(path)],
                   check=True, capture_output=True)
    return path.read_bytes()


def test_credentials_are_rotated_under_a_caged_worker(site, foreign_ca):
    """Links are swapped as in a volume of Kubernetes; the process that was there before reads what is new."""
    volume = os.path.join(site.directory, "volume")
    put(f"{volume}/..1", foreign_ca)
    link("..1", f"{volume}/..data")
    os.symlink("..data/ca.crt", f"{volume}/ca.crt")
    kubeconfig, right = kubeconfig_with_ca_file(site, f"{volume}/ca.crt")
    site.write(site.main(controllers_of("nginx")))
    site.start(kubeconfig=kubeconfig)
    wait_for("unreachable", lambda: site.operatord.workers()["nginx"]["state"] == "unreachable")
    pid = site.pids()["nginx"]
    put(f"{volume}/..2", right)
    link("..2", f"{volume}/..data")
    site.operatord.wait_live("nginx", seconds=40)
    assert site.pids()["nginx"] == pid


def test_a_worker_leaves_when_its_files_are_out_of_its_reach(site, foreign_ca):
    """The link leads out of what the cage opened: a new process reads it."""
    ca_file = os.path.join(site.directory, "links", "ca.crt")
    put(os.path.join(site.directory, "before"), foreign_ca)
    os.mkdir(os.path.dirname(ca_file))
    link("../before/ca.crt", ca_file)
    kubeconfig, right = kubeconfig_with_ca_file(site, ca_file)
    site.write(site.main(controllers_of("nginx")))
    site.start(kubeconfig=kubeconfig)
    wait_for("unreachable", lambda: site.operatord.workers()["nginx"]["state"] == "unreachable")
    put(os.path.join(site.directory, "after"), right)
    link("../after/ca.crt", ca_file)
    site.operatord.wait_live("nginx", seconds=60)
    assert "was replaced by a file that the sandbox" in site.operatord.log()


def test_a_caged_worker_gets_credentials_from_a_program(site):
    """What executes is the runner, forked before the cage closed; it is not in it."""
    document, base = load(site.server.kubeconfig)[0], os.path.dirname(site.server.kubeconfig)
    cluster, user = document["clusters"][0]["cluster"], document["users"][0].pop("user")
    if "certificate-authority" in cluster:
        cluster["certificate-authority"] = os.path.join(base, cluster["certificate-authority"])
    status = {}
    if "token" in user:
        status["token"] = user["token"]
    for key, name in (("client-certificate", "clientCertificateData"), ("client-key", "clientKeyData")):
        if key in user:
            with open(os.path.join(base, user[key]), encoding="utf-8") as file:
                status[name] = file.read()
        elif key + "-data" in user:
            status[name] = base64.b64decode(user[key + "-data"]).decode()
    version = "client.authentication.k8s.io/v1"
    answer = site.write({"apiVersion": version, "kind": "ExecCredential", "status": status}, "credential.json")
    document["users"][0]["user"] = {"exec": {"apiVersion": version, "command": "/bin/cat", "args": [answer], "interactiveMode": "Never"}}
    site.write(site.main(controllers_of("nginx")))
    site.start("nginx", kubeconfig=site.write(yaml.safe_dump(document), "kubeconfig-with-exec"))
    worker = site.pids()["nginx"]
    runners = proc(worker, f"task/{worker}/children").split()
    assert len(runners) == 1 and status_of(worker)["Seccomp"] == "2" and status_of(runners[0])["Seccomp"] == "0"
    site.close()
    assert not os.path.exists(f"/proc/{runners[0]}")
