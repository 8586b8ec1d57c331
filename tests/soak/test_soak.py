"""Faults by chance for a while, under objects that come, change and go: in the end all is as it should be, and nothing was kept.

On the real server it is also killed and started again, and etcd is compacted, so that versions become too old as they do in the field. After it each object
has its child and its status, no child is left of an object that went, as many objects are known as there are, and memory and descriptors are what they were
before. --soak SECONDS, --seed N; the seed is printed.
"""

import base64
import json
import os
import random
import signal
import time
import urllib.request

import pytest

import cluster as control_plane
from faultproxy import FaultProxy, Rule, gone, status_of
from kubeclient import Kube, load
from programs import DevServer, wait_for
from sites import EXAMPLES, NAMESPACES, Objects, Site, controllers_of, serve_crd

NAMES = [f"g{i}" for i in range(25)]
MIB = 1 << 20
GROWTH_BYTES = 2 * MIB
CONNECTIONS = 24  # idle ones that may be kept


class DevelopmentServer:
    """The development server of this test alone."""

    real = False

    def __init__(self, build, directory):
        self.program = DevServer(build, directory)
        self.kubeconfig = self.program.kubeconfig

    def stop(self):
        assert self.program.stop() == 0, self.program.tail()


class RealServer:
    """A control plane of this test alone, since it is killed."""

    real = True

    def __init__(self, _build, directory):
        self.cluster = control_plane.Cluster().start(directory)
        self.kubeconfig = str(self.cluster.admin)

    def restart(self):
        self.cluster.stop_program("kube-apiserver", signal.SIGKILL)
        self.cluster.start_program("kube-apiserver")

    def _etcd(self, call, body):
        request = urllib.request.Request(f"http://127.0.0.1:{self.cluster.etcd_port}/v3/kv/{call}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def compact(self):
        """All versions but the last are forgotten."""
        revision = self._etcd("range", {"key": base64.b64encode(b"none").decode()})["header"]["revision"]
        self._etcd("compaction", {"revision": revision, "physical": True})

    def stop(self):
        self.cluster.stop()


@pytest.fixture
def own(request, build, tmp_path):
    kind = RealServer if request.config.getoption("--server") == "cluster" else DevelopmentServer
    (tmp_path / "server").mkdir()
    try:
        made = kind(build, str(tmp_path / "server"))
    except control_plane.Unavailable as reason:
        pytest.skip(f"no real API server here: {reason}")
    made.kube = Kube(made.kubeconfig)
    yield made
    made.stop()


class Soak:
    """What there should be, and what is done to it. Everything is drawn from one seed."""

    def __init__(self, own, proxy, site, objects, seed):
        self.own, self.proxy, self.site, self.objects = own, proxy, site, objects
        self.chance = random.Random(seed)
        self.wanted, self.done = {}, {}

    def step(self):
        changes = [self.put] * 8 + [self.remove] * 3 + [self.tamper] * 2
        faults = [self.cut] * 4 + [self.cut_idle, self.bytes_fault, self.bytes_fault, self.answer_fault, self.answer_fault, self.expire, self.outage, self.dark]
        if self.own.real:
            faults += [self.compact]
        act = self.chance.choice(self.chance.choice((changes, changes, changes, faults)))
        act()
        self.done[act.__name__] = self.done.get(act.__name__, 0) + 1

    def put(self):
        name, value = self.chance.choice(NAMES), str(self.chance.randrange(10**9))
        path = self.objects.greeting(name)
        if name in self.wanted:
            self.objects.kube.merge(path, {"spec": {"audience": value}})
        else:
            self.objects.create(self.objects.greeting(), "Greeting", name, spec={"audience": value})
        self.wanted[name] = value

    def remove(self):
        if self.wanted:
            name = self.chance.choice(sorted(self.wanted))
            self.objects.kube.delete(self.objects.greeting(name))
            del self.wanted[name]

    def tamper(self):
        """With a child, if there is one."""
        name = self.chance.choice(NAMES)
        path = self.objects.configmap(name)
        if self.objects.kube.get_or_none(path) is None:
            return
        try:
            if self.chance.random() < 0.5:
                self.objects.kube.delete(path)
            else:
                self.objects.kube.merge(path, {"data": {"greeting": "by hand"}})
        except Exception as error:  # gone since
            assert getattr(error, "status", None) == 404, error

    def cut(self):
        self.proxy.cut(reset=self.chance.random() < 0.5, query={"watch": "1"})

    def cut_idle(self):
        self.proxy.cut_idle(reset=self.chance.random() < 0.5)

    def _rule(self, **fields):
        self.proxy.rules = [rule for rule in self.proxy.rules if rule.times is None or rule.used < rule.times][-20:]
        self.proxy.add(Rule(times=self.chance.randrange(1, 3), **fields))

    def _where(self):
        return self.chance.choice(({"query": {"watch": "1"}}, {"query": {"watch": None}, "method": "GET"}, {"method": "PATCH"}))

    def bytes_fault(self):
        what = self.chance.choice(({"cut_at": self.chance.randrange(4000)}, {"stall_at": self.chance.randrange(2000)}, {"chunk": self.chance.randrange(1, 40)},
                                   {"cut": True}, {"stall": self.chance.choice(("request", "headers", "body"))}))
        self._rule(reset=self.chance.random() < 0.5, **what, **self._where())

    def answer_fault(self):
        code = self.chance.choice((429, 500, 503, 504, 401, 403))
        headers = {"Retry-After": "1"} if code in (429, 503) else {}
        self._rule(status=code, headers=headers, body=self.chance.choice((status_of(code), "<html>no</html>")), **self._where())

    def expire(self):
        what = self.chance.choice(({"status": 410, "body": status_of(410, "Expired")}, {"stream": [gone("Gone")], "end": 1}))
        self._rule(query={"watch": "1"}, **what)
        self.cut()

    def outage(self):
        self.proxy.down()
        if self.own.real and self.chance.random() < 0.5:
            self.own.restart()
        else:
            time.sleep(self.chance.random())
        self.proxy.up()

    def dark(self):
        """Nothing goes through what is open, while the objects change."""
        self.proxy.hold(new=False)
        for _ in range(5):
            self.put()
        time.sleep(self.chance.random())
        if self.chance.random() < 0.7:
            self.proxy.release()
        else:
            self.cut()

    def compact(self):
        self.cut()
        for _ in range(5):
            self.put()
        self.own.compact()

    def difference(self):
        """What is not as it should be, "" when nothing is."""
        greetings = {o["metadata"]["name"]: o for o in self.objects.kube.items(self.objects.greeting())}
        children = {o["metadata"]["name"]: o for o in self.objects.kube.items(self.objects.configmap()) if o["metadata"]["name"] in NAMES}
        texts = {name: child["data"] for name, child in children.items()}
        if set(greetings) != set(self.wanted):
            return f"objects {sorted(greetings)}"
        for name, value in self.wanted.items():
            if texts.get(name) != {"greeting": f"Hello, {value}!"}:
                return f"the child of {name} is {texts.get(name)}, wanted {value}"
            status = greetings[name].get("status") or {}
            ready = [c["status"] for c in status.get("conditions") or [] if c["type"] == "Ready"]
            if status.get("configMap") != name or ready != ["True"] or status.get("observedGeneration") != greetings[name]["metadata"]["generation"]:
                return f"the status of {name} is {status}"
        if set(texts) != set(self.wanted):
            left = {name: children[name]["metadata"] for name in sorted(set(texts) - set(self.wanted))}
            return f"children without an object: {left}"
        known = self.site.metric("operatord_objects", controller="greeting")
        return "" if known == len(self.wanted) else f"{known} objects are known, {len(self.wanted)} are there"

    def settled(self, seconds):
        """All faults over: waits until everything is as it should be."""
        self.proxy.clear()
        self.proxy.release()
        self.site.operatord.wait_live("greeting", seconds=seconds)
        last = []

        def same():
            last[:] = [self.difference()]
            return last == [""]
        try:
            wait_for("the state that should be", same, seconds, pause=0.2)
        except AssertionError:
            raise AssertionError(last[0]) from None


def numbers(pid, key):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(key + ":"))


def sanitized(build):
    with open(os.path.join(build, "config.h"), encoding="utf-8") as file:
        return "#define WITH_SANITIZERS 1" in file.read()


def test_soak(request, build, own, tmp_path):
    seconds = request.config.getoption("--soak")
    seed = request.config.getoption("--seed")
    seed = random.SystemRandom().randrange(1 << 31) if seed is None else seed
    print(f"soak: --soak {seconds} --seed {seed}")
    serve_crd(own.kube, load(f"{EXAMPLES}/crds/greeting.yaml")[0])
    own.kube.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "soak"}})
    site = Site(build, own, tmp_path, "soak")
    try:
        with FaultProxy(own.kubeconfig, tmp_path) as proxy:
            run(Soak(own, proxy, site, Objects(own.kube, "soak"), seed), seconds, build)
            site.close()
    except BaseException as error:
        raise AssertionError(f"--soak {seconds} --seed {seed}: {error}") from error
    finally:
        site.close()


def run(soak, seconds, build):
    site = soak.site
    settings = {"requestTimeout": "2s", "watchSilence": "5s"}
    site.write(site.main(controllers_of("greeting"), defaults=settings, log={"level": "info", "format": "json"}))
    site.start("greeting", kubeconfig=soak.proxy.kubeconfig())
    pid = site.pids()["greeting"]
    for _ in range(60):  # warm
        soak.step()
    soak.settled(90)
    memory, fds = numbers(pid, "RssAnon"), len(os.listdir(f"/proc/{pid}/fd"))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        soak.step()
        time.sleep(soak.chance.random() * 0.1)
    soak.settled(90)
    print(f"soak: {dict(sorted(soak.done.items()))}; {len(soak.proxy.requests)} requests on {soak.proxy.connections} connections; "
          f"{(numbers(pid, 'RssAnon') - memory) >> 10} KiB more")
    assert site.pids()["greeting"] == pid, "the worker died"
    assert len(os.listdir(f"/proc/{pid}/fd")) <= fds + CONNECTIONS
    if not sanitized(build):
        assert numbers(pid, "RssAnon") - memory < GROWTH_BYTES
