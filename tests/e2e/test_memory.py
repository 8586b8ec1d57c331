"""Memory and descriptors stay flat: over reconciles, events, scrapes, reloads of good and bad files, objects that come and go.

Each test warms up, looks, does much more of the same, and looks again: what is kept once (pools, tables that grew) is there by then, what is kept for each
thing done would show. The bounds are several times the noise of malloc, and a small part of what a leak of 100 bytes a time would be.
"""

import http.client
import json
import os

import pytest

from kubeclient import MERGE
from programs import wait_for
from sites import controllers_of

KIB = 1024
CONNECTIONS = 2  # that may be open or not


@pytest.fixture(autouse=True)
def without_sanitizers(build):
    with open(os.path.join(build, "config.h"), encoding="utf-8") as file:
        if "#define WITH_SANITIZERS 1" in file.read():
            pytest.skip("sanitizers keep freed memory: nothing to measure")


def anonymous(pid):
    """Bytes of anonymous memory that a process has: RssAnon of proc(5), which everybody may read."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * KIB
    raise AssertionError("no RssAnon")


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Look:
    """What supervisor and workers have now; grown() is what they have more later, at its least: a worker may be at work while we look."""

    def __init__(self, site):
        self.pids = {"supervisor": site.operatord.pid, **site.pids()}
        self.memory = {name: anonymous(pid) for name, pid in self.pids.items()}
        self.descriptors = {name: descriptors(pid) for name, pid in self.pids.items()}

    def flat(self, bound):
        for name, pid in self.pids.items():
            def settled(name=name, pid=pid):
                return anonymous(pid) - self.memory[name] < bound and descriptors(pid) <= self.descriptors[name] + CONNECTIONS
            try:
                wait_for("flat", settled, seconds=10)
            except Exception as error:
                raise AssertionError(f"{name}: {anonymous(pid) - self.memory[name]} bytes more, {descriptors(pid)} descriptors, "
                                     f"{self.descriptors[name]} before") from error


class Writer:
    """One connection to the server, since thousands of handshakes would take longer than what is measured."""

    def __init__(self, kube):
        self.connection = http.client.HTTPSConnection(kube.host, kube.port, context=kube.tls, timeout=30)
        self.headers = {"Authorization": "Bearer " + kube.token} if kube.token else {}

    def __call__(self, method, path, body=None, content_type="application/json"):
        headers = dict(self.headers, **({"Content-Type": content_type} if body is not None else {}))
        self.connection.request(method, path, body=json.dumps(body) if body is not None else None, headers=headers)
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status < 300, text

    def close(self):
        self.connection.close()


@pytest.fixture
def write(server):
    made = Writer(server.kube)
    yield made
    made.close()


def start(site):
    controllers = controllers_of("greeting")
    controllers[0].update(writes={"perSecond": 5000, "burst": 5000}, concurrency=2)  # few connections: each holds 100 KiB while it is kept
    site.write(site.main(controllers))
    site.start("greeting")


def events(site):
    return site.metric("operatord_watch_events_total", controller="greeting", type="modified")


def test_reconciles_and_events(site, objects, write):
    """E221, its events: each changes an object, its child and its status."""
    start(site)
    objects.create(objects.greeting(), "Greeting", "web", spec={"audience": "0"})
    path = objects.greeting("web")

    def change(first, last):
        for i in range(first, last):
            write("PATCH", path, {"spec": {"audience": str(i)}, "metadata": {"annotations": {"x": "y" * (i % 100)}}}, MERGE)
        wait_for("the last change", lambda: objects.kube.get(objects.configmap("web"))["data"]["greeting"] == f"Hello, {last - 1}!")
    change(0, 500)
    look, before = Look(site), events(site)
    change(500, 3500)
    assert events(site) - before >= 3000
    look.flat(256 * KIB)


def test_scrapes(site):
    start(site)

    def scrape(n):
        for i in range(n):
            for page in ("/metrics", "/healthz?verbose", "/readyz?format=json", "/nothing"):
                site.http(page)
    scrape(100)
    look = Look(site)
    scrape(1000)
    look.flat(128 * KIB)


def test_reloads(site):
    """E219: and the same with a file that is not YAML, one whose values are not what they should be, and one that is none of ours."""
    start(site)
    bad = ["version: 1\ncontrollers: [\n", "version: 1\ncontrollers: [{name: 'x, resource: y}]\n", "version: 1\ncontrolers: []\n",
           "version: 1\ncontrollers:\n- {name: b, resource: things.v1.example.com, children: [{id: a, template: {a: \"${.x\"}}]}\n"]

    def reload(n):
        for i in range(n):
            text = bad[i % (len(bad) + 1)] if i % (len(bad) + 1) < len(bad) else "version: 1\ncontrollers: []\n"
            site.write(text, "conf.d/other.yaml")
            site.operatord.ctl("reload", check=False)
    reload(40)
    look = Look(site)
    reload(200)
    look.flat(128 * KIB)
    assert site.pids() == {"greeting": look.pids["greeting"]}, "the good one went on"


def test_objects_that_come_and_go(site, objects, write):
    """E225: their memory comes and goes with them."""
    start(site)

    def churn(rounds, n=300):
        for _ in range(rounds):
            for i in range(n):
                write("POST", objects.greeting(), {"apiVersion": "demo.operator/v1", "kind": "Greeting",
                                                   "metadata": {"name": f"g{i}"}, "spec": {"audience": "x" * 500}})
            wait_for("all there", lambda: site.metric("operatord_objects", status="ready") == n, seconds=60)
            for i in range(n):
                write("DELETE", objects.greeting(f"g{i}"))
            wait_for("all gone", lambda: site.metric("operatord_objects") == 0, seconds=60)
            wait_for("their children too", lambda: not objects.kube.items(objects.configmap()), seconds=60)
    churn(2)
    look = Look(site)
    churn(4)
    look.flat(256 * KIB)


def test_workers_that_die(site):
    """The supervisor keeps nothing of the dead but their numbers."""
    start(site)

    def die(n):
        for _ in range(n):
            pid = site.pids()["greeting"]
            os.kill(pid, 9)
            site.operatord.ctl("reload")  # starts it without waiting for the delay, if it waits
            wait_for("a new one", lambda: site.pids()["greeting"] not in (0, pid), seconds=60)
    die(4)
    memory, fds = anonymous(site.operatord.pid), descriptors(site.operatord.pid)
    die(12)
    assert anonymous(site.operatord.pid) - memory < 128 * KIB
    assert descriptors(site.operatord.pid) <= fds
