"""operatorctl beside a running operatord and a server."""

import os
import re
import signal
import subprocess

from sites import EXAMPLES, controllers_of
from kubeclient import path_of
from programs import Failed, Program, wait_for


def ctl(site, *arguments, check=True):
    done = subprocess.run([os.path.join(site.build, "operatorctl"), "--kubeconfig", site.server.kubeconfig, *arguments],
                          capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL)
    if check and done.returncode != 0:
        raise Failed(f"operatorctl {' '.join(arguments)}: {done.returncode}: {done.stderr}")
    return done.stdout if check else done


def test_list_prints_namespace_name_and_start_time(site, objects):
    objects.create_nginx("web", {"replicas": 1})
    lines = ctl(site, "list", "nginx", "-A").splitlines()
    assert lines[0].split() == ["NAMESPACE", "NAME", "START", "TIME"]
    row = next(line.split() for line in lines if line.split()[:2] == [site.namespace, "web"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row[2])
    assert ctl(site, "list", "nginx", "-n", site.namespace, "-o", "name") == "nginx.stable.underneathall.com/web\n"


def test_list_pods(site, objects):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    objects.kube.create(objects.path("pods", "v1"), pod)
    for word in ("pods", "pod", "po", "pods.v1."):
        assert any(line.split()[:2] == [site.namespace, "p"] for line in ctl(site, "list", word, "-A").splitlines()), word


def test_list_wide_shows_the_servers_columns(site, objects):
    site.write(site.main(controllers_of("uuid")))
    site.start("uuid")
    objects.create(objects.uuid(), "Uuid", "one")
    uuid = wait_for("a uuid", lambda: (objects.kube.get(objects.uuid("one")).get("status") or {}).get("uuid"))
    lines = ctl(site, "list", "uuid", "-n", site.namespace, "-o", "wide").splitlines()
    assert lines[0].split()[:3] == ["NAME", "UUID", "STATUS"]
    assert lines[1].split()[:3] == ["one", uuid, "Ok"]


def test_watch_prints_each_event_until_interrupted(site, objects):
    objects.create_nginx("first", {"replicas": 1})
    watch = Program(site.directory, "watch", [os.path.join(site.build, "operatorctl"), "--kubeconfig", site.server.kubeconfig,
                                              "watch", "nginx", "-n", site.namespace])

    def events():
        return [(fields[0], fields[1], fields[4]) for fields in (line.split() for line in watch.log().splitlines()[1:])
                if len(fields) == 5]

    wait_for("the first", lambda: events() == [("1", "ADDED", "first")])
    objects.create_nginx("second", {"replicas": 1})
    wait_for("an addition", lambda: len(events()) == 2)
    objects.kube.merge(objects.nginx("second"), {"spec": {"replicas": 2}})
    wait_for("a change", lambda: len(events()) == 3)
    objects.kube.delete(objects.nginx("second"))
    wait_for("a deletion", lambda: len(events()) == 4)
    watch.signal(signal.SIGINT)
    assert watch.wait() == 0
    assert events() == [("1", "ADDED", "first"), ("2", "ADDED", "second"), ("3", "MODIFIED", "second"), ("4", "DELETED", "second")]
    assert watch.log().splitlines()[0].split() == ["No.", "TYPE", "RECEIVE", "TIME", "NAME"]


def test_unknown_resources_and_verbs_are_explained(site):
    wrong = ctl(site, "list", "ngnix", check=False)
    assert wrong.returncode == 1 and "ngnix" in wrong.stderr and "nginx" in wrong.stderr
    assert ctl(site, "explode", check=False).returncode == 64


def test_check(site):
    for name in ("operatord", "nginx", "uuid", "uuid-status", "greeting"):
        assert "ok" in ctl(site, "check", f"{EXAMPLES}/{name}.yaml")
    bad = site.write("version: 1\ncontrolers: []\n", "bad.yaml")
    done = ctl(site, "check", bad, check=False)
    assert done.returncode == 78 and "bad.yaml:2:1" in done.stderr and "controllers" in done.stderr


def test_status_shows_each_worker(site):
    site.write(site.main(controllers_of("nginx") + controllers_of("uuid")))
    site.start("nginx", "uuid")
    lines = site.operatord.ctl("status").splitlines()
    assert lines[0].split()[:3] == ["NAME", "STATE", "PID"]
    assert {tuple(line.split()[:2]) for line in lines[1:]} == {("nginx", "live"), ("uuid", "live")}


def test_status_without_operatord_says_so(site):
    done = ctl(site, "--control", os.path.join(site.directory, "nobody.sock"), "status", check=False)
    assert done.returncode == 1 and "nobody.sock" in done.stderr


def test_list_reads_pages(site, objects):
    """More objects than one page of 500."""
    path = path_of("configmaps", "v1", site.namespace)
    for i in range(505):
        objects.kube.create(path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c-{i:03}"}})
    lines = ctl(site, "list", "configmaps", "-n", site.namespace, "-o", "name").splitlines()
    assert len([line for line in lines if line.startswith("configmaps/c-")]) == 505
