"""Deletion: finalizers and what they wait for, children that stay, nothing left behind."""

import copy
import json
import time

import pytest

from programs import Operatord, wait_for
from sites import NAMESPACES, controllers_of

GREETING = "Greeting"


def greeting(owner=None, deletion=None, elsewhere=None, **more):
    """The greeting example, its ConfigMap tied in another way, or in another namespace."""
    controllers = controllers_of("greeting")
    child = controllers[0]["children"][0]
    if owner:
        child["owner"] = owner
    if deletion:
        child["deletion"] = deletion
    if elsewhere:
        child["template"]["metadata"]["namespace"] = elsewhere
    controllers[0].update(more)
    return controllers


@pytest.fixture
def elsewhere(server, namespace):
    """A second namespace."""
    name = namespace + "-b"
    server.kube.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    if server.kube.get_or_none(f"{NAMESPACES}/{name}") is not None:
        server.kube.delete(f"{NAMESPACES}/{name}")


def configmap(namespace, name):
    return f"/api/v1/namespaces/{namespace}/configmaps/{name}"


def finalizers(objects, path):
    return objects.kube.get(path)["metadata"].get("finalizers", [])


def ours(site, controller="greeting"):
    return f"operatord.io/{site.namespace}.{controller}"


def gone(objects, path):
    return wait_for(f"{path} gone", lambda: objects.kube.get_or_none(path) is None)


def make(objects, name="a", **metadata):
    body = {"apiVersion": "demo.operator/v1", "kind": GREETING, "metadata": {"name": name, **metadata}, "spec": {"audience": name}}
    return objects.kube.create(objects.greeting(), body)


def ready(objects, name="a"):
    path = objects.greeting(name)
    wait_for(f"{name} ready", lambda: objects.condition(path).get("status") == "True")
    return path


def unhold(objects, path, *keep):
    objects.kube.merge(path, {"metadata": {"finalizers": list(keep) or None}})


def quiet(site):
    """The number of writes once it has stood for a second and a half."""
    seen = []

    def stands():
        seen.append(site.writes())
        return len(seen) > 15 and len(set(seen[-15:])) == 1

    wait_for("no more writes", stands, seconds=30, pause=0.1)
    return seen[-1]


def test_a_child_in_another_namespace_goes_with_its_owner(site, objects, elsewhere):
    """The finalizer is there before the child, waits for its end, and is gone with it; the owner has no reference that would be wrong."""
    site.write(site.main(greeting("finalizer", elsewhere=elsewhere)))
    site.start("greeting")
    made = make(objects, finalizers=["example.com/other"])
    path = ready(objects)
    assert finalizers(objects, path) == ["example.com/other", ours(site)]
    child = objects.kube.get(configmap(elsewhere, "a"))
    assert "ownerReferences" not in child["metadata"]
    assert child["metadata"]["labels"]["operatord.io/owner-uid"] == made["metadata"]["uid"]
    writes = quiet(site)
    unhold(objects, configmap(elsewhere, "a"), "example.com/hold")
    objects.kube.delete(path)
    wait_for("the child under deletion", lambda: objects.kube.get(configmap(elsewhere, "a"))["metadata"].get("deletionTimestamp"))
    wait_for("the reason", lambda: objects.condition(path).get("reason") == "Deleting")
    assert f"ConfigMap {elsewhere}/a" in objects.condition(path)["message"]
    assert finalizers(objects, path) == ["example.com/other", ours(site)]
    assert site.metric("operatord_object_oldest_deletion_timestamp_seconds", controller="greeting") > 1e9
    unhold(objects, configmap(elsewhere, "a"))
    wait_for("our finalizer off", lambda: finalizers(objects, path) == ["example.com/other"])
    assert objects.kube.get_or_none(configmap(elsewhere, "a")) is None
    assert quiet(site) - writes <= 6  # one delete, one status, one finalizer, three Events at most
    unhold(objects, path)
    gone(objects, path)
    wait_for("nobody waits", lambda: site.metric("operatord_object_oldest_deletion_timestamp_seconds", controller="greeting") == 0)


def test_deletion_goes_on_after_a_restart(site, objects, elsewhere):
    """E133: an object deleted while nobody looked is handled at the next start, and once."""
    site.write(site.main(greeting("finalizer", elsewhere=elsewhere)))
    site.start("greeting")
    make(objects)
    path = ready(objects)
    assert site.operatord.stop() == 0
    objects.kube.delete(path)
    assert finalizers(objects, path) == [ours(site)]
    site.start("greeting")
    gone(objects, path)
    assert objects.kube.get_or_none(configmap(elsewhere, "a")) is None
    quiet(site)
    assert site.metric("rest_client_requests_total", controller="greeting", method="DELETE") == 1


def test_a_deletion_is_handled_once(site, objects, elsewhere):
    """E83: MODIFIED with a deletionTimestamp, then DELETED; nothing is applied for it any more."""
    controllers = greeting("finalizer", elsewhere=elsewhere) + controllers_of("nginx")
    site.write(site.main(controllers))
    site.start("greeting", "nginx")
    make(objects)
    ready(objects)
    objects.create_nginx("web", {"replicas": 1})
    wait_for("web ready", lambda: objects.condition(objects.nginx("web")).get("status") == "True")
    quiet(site)
    applied = site.metric("operatord_child_writes_total", operation="apply")
    nginx = site.metric("rest_client_requests_total", controller="nginx", method="PATCH")
    objects.kube.delete(objects.greeting("a"))
    unhold(objects, objects.nginx("web"), "example.com/hold")
    objects.kube.delete(objects.nginx("web"))
    gone(objects, objects.greeting("a"))
    unhold(objects, objects.nginx("web"))
    gone(objects, objects.nginx("web"))
    quiet(site)
    assert site.metric("rest_client_requests_total", controller="greeting", method="DELETE") == 1
    assert site.metric("operatord_child_writes_total", operation="apply") == applied
    assert site.metric("rest_client_requests_total", controller="nginx", method="PATCH") == nginx
    assert '"level":"error"' not in site.operatord.log()


def test_no_finalizer_is_added_under_deletion(site, objects, elsewhere):
    """E131: an object that comes with a deletionTimestamp and a finalizer of others is left alone."""
    make(objects, finalizers=["example.com/other"])
    objects.kube.delete(objects.greeting("a"))
    site.write(site.main(greeting("finalizer", elsewhere=elsewhere)))
    site.start("greeting")
    make(objects, "b")
    ready(objects, "b")
    quiet(site)
    assert finalizers(objects, objects.greeting("a")) == ["example.com/other"]
    assert objects.kube.get_or_none(configmap(elsewhere, "a")) is None
    assert "no new finalizers" not in site.operatord.log()
    unhold(objects, objects.greeting("a"))
    gone(objects, objects.greeting("a"))


def test_a_namespace_that_ends_is_not_kept(site, objects, server, namespace, elsewhere):
    """E135, E231: refused creations in it are no reason to hold the object, nor to hurry."""
    site.write(site.main(greeting("finalizer", elsewhere=elsewhere, namespaces=[elsewhere])))
    site.start("greeting")
    path = objects.greeting("a").replace(f"/{namespace}/", f"/{elsewhere}/")
    collection = path.rsplit("/", 1)[0]
    server.kube.create(collection, {"apiVersion": "demo.operator/v1", "kind": GREETING, "metadata": {"name": "a"}})
    wait_for("the child", lambda: server.kube.get_or_none(configmap(elsewhere, "a")))
    server.kube.merge(path, {"metadata": {"finalizers": server.kube.get(path)["metadata"]["finalizers"] + ["example.com/hold"]}})
    server.kube.delete(f"{NAMESPACES}/{elsewhere}")
    if server.real:  # no controller manager empties it there
        server.kube.delete(path)
    wait_for("our finalizer off", lambda: server.kube.get(path)["metadata"]["finalizers"] == ["example.com/hold"], seconds=40)
    before = site.writes()
    time.sleep(2)
    assert site.writes() - before <= 3
    server.kube.merge(path, {"metadata": {"finalizers": None}})
    gone(objects, path)


def test_what_is_stuck_says_why(site, objects, elsewhere):
    site.write(site.main(greeting("finalizer", elsewhere=elsewhere, stuckAfter="1s")))
    site.start("greeting")
    make(objects)
    path = ready(objects)
    unhold(objects, configmap(elsewhere, "a"), "example.com/hold")
    objects.kube.delete(path)
    wait_for("FinalizerStuck", lambda: objects.condition(path).get("reason") == "FinalizerStuck")
    assert f"ConfigMap {elsewhere}/a" in objects.condition(path)["message"]
    assert objects.condition(path, "Stalled")["status"] == "True"
    events = objects.path("events", "events.k8s.io/v1")
    wait_for("the Event", lambda: [e for e in objects.kube.items(events) if e["reason"] == "FinalizerStuck"])
    quiet(site)
    unhold(objects, configmap(elsewhere, "a"))
    gone(objects, path)


def test_a_finalizer_that_is_not_needed_any_more_goes(site, objects):
    """With its child's `when`, and when the configuration ties the child by a reference instead."""
    controllers = greeting("finalizer")
    controllers[0]["children"][0]["when"] = "${.spec.audience != \"off\"}"
    site.write(site.main(controllers))
    site.start("greeting")
    make(objects)
    path = ready(objects)
    assert finalizers(objects, path) == [ours(site)]
    objects.kube.merge(path, {"spec": {"audience": "off"}})
    gone(objects, objects.configmap("a"))
    wait_for("no finalizer", lambda: finalizers(objects, path) == [])
    objects.kube.merge(path, {"spec": {"audience": "on"}})
    wait_for("the child", lambda: objects.kube.get_or_none(objects.configmap("a")))
    assert finalizers(objects, path) == [ours(site)]
    tied = copy.deepcopy(controllers)
    tied[0]["children"][0]["owner"] = "reference"
    site.write(site.main(tied))
    site.operatord.ctl("reload")
    wait_for("no finalizer", lambda: finalizers(objects, path) == [])
    child = objects.kube.get(objects.configmap("a"))
    assert child["metadata"]["ownerReferences"][0]["name"] == "a"
    quiet(site)


def test_children_that_stay(site, objects):
    """A retained child and one that belongs to nobody outlive their owner; the first outlives its place in the configuration too."""
    controllers = greeting(deletion="retain")
    children = controllers[0]["children"]
    children.append(copy.deepcopy(children[0]))
    children[1].update(id="free", owner="none", deletion="delete")
    children[1]["template"]["metadata"]["name"] = "${.metadata.name}-free"
    site.write(site.main(controllers))
    site.start("greeting")
    made = make(objects)
    make(objects, "b")
    path = ready(objects)
    ready(objects, "b")
    assert finalizers(objects, path) == []
    kept = objects.kube.get(objects.configmap("a"))
    assert "ownerReferences" not in kept["metadata"] and kept["metadata"]["annotations"]["operatord.io/deletion"] == "retain"
    objects.kube.delete(path)
    gone(objects, path)
    del controllers[0]["children"][0]
    site.write(site.main(controllers))
    site.operatord.ctl("reload")
    objects.kube.merge(objects.greeting("b"), {"spec": {"audience": "again"}})
    wait_for("the other child", lambda: objects.kube.get(objects.configmap("b-free"))["data"]["greeting"] == "Hello, again!")
    quiet(site)
    for name in ("a", "a-free", "b", "b-free"):
        assert objects.kube.get_or_none(objects.configmap(name)), name
    # Made anew under its name, the owner takes what stayed.
    again = make(objects)
    wait_for("taken", lambda: objects.kube.get(objects.configmap("a-free"))["metadata"]["labels"]["operatord.io/owner-uid"]
             == again["metadata"]["uid"])
    assert again["metadata"]["uid"] != made["metadata"]["uid"]


def test_a_claim_is_retained_by_its_kind(site, objects):
    controllers = greeting()
    controllers[0]["children"][0]["template"] = {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "${.metadata.name}"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    site.write(site.main(controllers))
    site.start("greeting")
    make(objects)
    path = ready(objects)
    claim = objects.path("persistentvolumeclaims", "v1", "a")
    assert "ownerReferences" not in objects.kube.get(claim)["metadata"]
    objects.kube.delete(path)
    gone(objects, path)
    quiet(site)
    assert "deletionTimestamp" not in objects.kube.get(claim)["metadata"]


def test_a_cluster_scoped_child_goes_too(site, objects, server, namespace):
    controllers = greeting("finalizer", "delete")
    controllers[0]["children"][0]["template"] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace + "-${.metadata.name}"}}
    site.write(site.main(controllers))
    site.start("greeting")
    make(objects)
    path = ready(objects)
    assert server.kube.get(f"{NAMESPACES}/{namespace}-a")["metadata"]["labels"]["operatord.io/controller"] == "greeting"
    objects.kube.delete(path)
    if server.real:  # nothing empties a namespace there: no controller manager runs
        wait_for("it is asked for", lambda: server.kube.get(f"{NAMESPACES}/{namespace}-a")["metadata"].get("deletionTimestamp"))
        return
    gone(objects, path)
    assert server.kube.get_or_none(f"{NAMESPACES}/{namespace}-a") is None


def test_long_names(site, objects, elsewhere):
    """E137: instance and controller of the length that a configuration allows make a finalizer that the server takes."""
    controllers = greeting("finalizer", elsewhere=elsewhere)
    controllers[0]["name"] = "c" * 32
    site.write(site.main(controllers, instance="i" * 30))
    site.start("c" * 32)
    make(objects)
    path = ready(objects)
    (name,) = finalizers(objects, path)
    assert name == f"operatord.io/{'i' * 30}.{'c' * 32}" and len(name.split("/")[1]) == 63
    objects.kube.delete(path)
    gone(objects, path)


def test_children_by_reference_need_a_place_near(site, objects, elsewhere):
    """What has an owner reference can't be elsewhere: refused when the configuration is checked, with the way out."""
    site.write(site.main(greeting(elsewhere=elsewhere)))
    operatord = Operatord(site.build, site.directory, site.config, "--check", name="check")
    assert operatord.wait() == 78
    assert "owner: finalizer" in operatord.log()


def test_what_matches_no_more_is_released(site, objects, elsewhere):
    """Under a selector a DELETED line may mean that only a label changed: the finalizer goes, the child stays; back again, both are there."""
    site.write(site.main(greeting("finalizer", elsewhere=elsewhere, selector="mine=yes")))
    site.start("greeting")
    make(objects, labels={"mine": "yes"}, finalizers=["example.com/other"])
    path = ready(objects)
    assert ours(site) in finalizers(objects, path)
    objects.kube.merge(path, {"metadata": {"labels": {"mine": "no"}}})
    wait_for("released", lambda: finalizers(objects, path) == ["example.com/other"])
    assert objects.kube.get_or_none(configmap(elsewhere, "a"))
    assert quiet(site) and finalizers(objects, path) == ["example.com/other"]
    objects.kube.merge(path, {"metadata": {"labels": {"mine": "yes"}}})
    wait_for("ours again", lambda: ours(site) in finalizers(objects, path))
    objects.kube.delete(path)
    wait_for("let go", lambda: finalizers(objects, path) == ["example.com/other"])
    assert objects.kube.get_or_none(configmap(elsewhere, "a")) is None
    unhold(objects, path)


@pytest.mark.parametrize("owner", ["reference", "finalizer"])
def test_objects_that_go_at_once(site, objects, owner):
    """E95: deleted while they are worked on; a 404 on the way is the end of the work, not an error, and nothing of them is left."""
    site.write(site.main(greeting(owner)))
    site.start("greeting")
    make(objects, "stays")
    names = [f"q{i}" for i in range(30)]
    for name in names:
        make(objects, name)
        objects.kube.delete(objects.greeting(name))
    for name in names:
        gone(objects, objects.greeting(name))
    ready(objects, "stays")
    quiet(site)
    lines = [json.loads(line) for line in site.operatord.log().splitlines() if line.startswith("{")]
    assert [line for line in lines if line["level"] in ("error", "warn") and line.get("controller") == "greeting"] == []
    assert site.metric("controller_runtime_reconcile_errors_total", controller="greeting") == 0
    if owner == "finalizer":  # the others are the garbage collector's
        left = [item["metadata"]["name"] for item in objects.kube.items(objects.configmap())]
        assert [name for name in left if name.startswith("q")] == []


def test_a_namespace_that_is_made_later(site, objects, server, namespace):
    """E109: a child whose namespace is not there yet is made once it is, and known from then on."""
    later = namespace + "-later"
    site.write(site.main(greeting("finalizer", elsewhere=later, retry={"min": "50ms", "max": "1s"})))
    site.start("greeting")
    make(objects)
    path = objects.greeting("a")
    wait_for("it says so", lambda: objects.condition(path).get("reason") == "ApplyRejected")
    assert later in objects.condition(path)["message"]
    server.kube.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": later}})
    ready(objects)
    writes = quiet(site)
    objects.kube.merge(configmap(later, "a"), {"metadata": {"labels": None}})
    wait_for("known again", lambda: (objects.kube.get(configmap(later, "a"))["metadata"].get("labels") or {}).get("operatord.io/child"))
    assert quiet(site) - writes <= 4  # the apply that finds it, the one that takes it, Events
    objects.kube.delete(path)
    gone(objects, path)
    assert objects.kube.get_or_none(configmap(later, "a")) is None
    server.kube.delete(f"{NAMESPACES}/{later}")


def test_a_live_object_in_a_namespace_that_ends(site, objects, server, namespace, elsewhere):
    """E231: refused creations are tried again with growing delays, and no more once the object is gone."""
    site.write(site.main(greeting("finalizer", namespaces=[elsewhere])))
    path = objects.greeting("a").replace(f"/{namespace}/", f"/{elsewhere}/")
    server.kube.create(path.rsplit("/", 1)[0], {"apiVersion": "demo.operator/v1", "kind": GREETING, "metadata": {
        "name": "a", "finalizers": ["example.com/hold"]}})
    # Something else keeps the namespace; the object itself lives on for now where nothing empties it.
    server.kube.create(f"/api/v1/namespaces/{elsewhere}/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "keeper", "finalizers": ["example.com/hold"]}})
    server.kube.delete(f"{NAMESPACES}/{elsewhere}")
    site.start("greeting")
    if server.real:
        wait_for("a refused creation", lambda: "being terminated" in site.operatord.log())
        seen = site.writes()
        time.sleep(3)
        assert site.writes() - seen < 10
        assert '"level":"warn"' not in site.operatord.log()
        server.kube.delete(path)
    wait_for("under deletion", lambda: server.kube.get(path)["metadata"].get("deletionTimestamp"))
    wait_for("ours is off", lambda: server.kube.get(path)["metadata"]["finalizers"] == ["example.com/hold"], seconds=40)
    server.kube.merge(path, {"metadata": {"finalizers": None}})
    gone(objects, path)
    quiet(site)
    server.kube.merge(f"/api/v1/namespaces/{elsewhere}/configmaps/keeper", {"metadata": {"finalizers": None}})


def test_a_hand_that_takes_the_finalizer_off_keeps_the_children(site, objects, elsewhere):
    """Somebody forces an object under deletion out: that is no order to delete anything, with a selector or without."""
    site.write(site.main(greeting("finalizer", elsewhere=elsewhere, selector="mine=yes")))
    site.start("greeting")
    make(objects, labels={"mine": "yes"})
    path = ready(objects)
    objects.kube.merge(path, {"metadata": {"annotations": {"operatord.io/paused": "true"}}})
    wait_for("paused", lambda: objects.condition(path).get("reason") == "Paused")
    objects.kube.delete(path)
    wait_for("under deletion", lambda: site.metric("operatord_objects", status="deleting") == 1)
    unhold(objects, path)
    gone(objects, path)
    quiet(site)
    assert "deletionTimestamp" not in objects.kube.get(configmap(elsewhere, "a"))["metadata"]


def test_children_of_a_list_go_with_their_owner(site, objects, elsewhere):
    """forEach before the child that the finalizer is for, and with it: each of its children counts."""
    controllers = greeting("finalizer", elsewhere=elsewhere)
    children = controllers[0]["children"]
    children.insert(0, copy.deepcopy(children[0]))
    children[0].update(id="near", owner="reference", forEach={"part": "${.spec.audience | split(\",\")}"})
    children[0]["template"]["metadata"] = {"name": "${.metadata.name}-${$part}"}
    children.append(copy.deepcopy(children[0]))
    children[2].update(id="far", owner="finalizer")
    children[2]["template"]["metadata"] = {"name": "${.metadata.name}-${$part}", "namespace": elsewhere}
    site.write(site.main(controllers))
    site.start("greeting")
    make(objects)
    path = ready(objects)
    objects.kube.merge(path, {"spec": {"audience": "x,y,z"}})
    far = [configmap(elsewhere, f"a-{part}") for part in "xyz"]
    wait_for("all of the list", lambda: all(objects.kube.get_or_none(child) for child in far))
    assert finalizers(objects, path) == [ours(site)]
    gone(objects, configmap(elsewhere, "a-a"))
    objects.kube.merge(path, {"spec": {"audience": "z"}})
    gone(objects, far[0])
    objects.kube.delete(path)
    gone(objects, path)
    assert [child for child in [configmap(elsewhere, "a"), *far] if objects.kube.get_or_none(child)] == []


# --- a controller that is removed ---


def two(site, first):
    """The controllers under test and one that stays."""
    site.write(site.main(first + controllers_of("nginx")))
    site.start("greeting", "nginx")


def without(site):
    site.write(site.main(controllers_of("nginx")))
    return site.operatord.ctl("reload")


def workers_are(site, *names):
    wait_for(f"workers {names}", lambda: sorted(site.operatord.workers()) == sorted(names))


def test_a_removed_controller_lets_go(site, objects, elsewhere):
    """onRemove: release: its finalizers are off, foreign ones and the children stay, and so does the other worker."""
    two(site, greeting("finalizer", elsewhere=elsewhere))
    for name in ("a", "b", "c"):
        make(objects, name, finalizers=["example.com/other"])
    paths = [ready(objects, name) for name in ("a", "b", "c")]
    nginx = site.pids()["nginx"]
    assert "1 removed" in without(site)
    workers_are(site, "nginx")
    assert [finalizers(objects, path) for path in paths] == [["example.com/other"]] * 3
    for name in ("a", "b"):
        assert objects.kube.get(configmap(elsewhere, name))["metadata"].get("deletionTimestamp") is None
    assert site.pids() == {"nginx": nginx}
    assert site.http("/readyz")[0] == 200
    for path in paths:
        unhold(objects, path)


def test_a_removed_controller_keeps_its_hands_off(site, objects, elsewhere):
    two(site, greeting("finalizer", elsewhere=elsewhere, onRemove="keep"))
    make(objects)
    path = ready(objects)
    without(site)
    workers_are(site, "nginx")
    assert finalizers(objects, path) == [ours(site)]
    assert "onRemove: keep" in site.operatord.log()
    unhold(objects, path)


def test_a_removed_controller_deletes(site, objects, elsewhere):
    """onRemove: delete: children by reference and by finalizer go, with their uid; what is retained, paused or of others stays."""
    controllers = greeting("finalizer", elsewhere=elsewhere, onRemove="delete")
    children = controllers[0]["children"]
    children += [copy.deepcopy(children[0]) for _ in range(2)]
    for child, (name, owner, deletion) in zip(children[1:], [("near", "reference", "delete"), ("kept", "none", "retain")]):
        child.update(id=name, owner=owner, deletion=deletion)
        child["template"]["metadata"] = {"name": "${.metadata.name}-" + name}
    two(site, controllers)
    make(objects)
    make(objects, "b", annotations={"operatord.io/paused": "false"})
    path, other = ready(objects), ready(objects, "b")
    objects.kube.merge(other, {"metadata": {"annotations": {"operatord.io/paused": "true"}}})
    wait_for("paused", lambda: objects.condition(other).get("reason") == "Paused")
    objects.kube.create(objects.configmap(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "foreign", "labels": {
        "operatord.io/owner-uid": objects.kube.get(path)["metadata"]["uid"]}}})
    without(site)
    workers_are(site, "nginx")
    assert finalizers(objects, path) == [] and finalizers(objects, other) == []
    assert objects.kube.get_or_none(configmap(elsewhere, "a")) is None
    assert objects.kube.get_or_none(objects.configmap("a-near")) is None
    for stays in (configmap(elsewhere, "b"), objects.configmap("b-near"), objects.configmap("a-kept"), objects.configmap("foreign")):
        assert objects.kube.get_or_none(stays), stays


def test_removal_that_is_cut_short_says_what_is_left(site, objects, elsewhere):
    """A stop while it removes ends it; so does the end of its time; then a controller that came back starts anew."""
    controllers = greeting("finalizer", elsewhere=elsewhere, removeTimeout="30s", writes={"perSecond": 1, "burst": 3})
    two(site, controllers)
    for name in "abcdefgh":
        make(objects, name)
    for name in "abcdefgh":
        wait_for("its child", lambda n=name: objects.kube.get_or_none(configmap(elsewhere, n)), seconds=40)
    without(site)
    wait_for("removing", lambda: site.operatord.workers().get("greeting", {}).get("state") == "removing")
    assert site.metric("operatord_worker_state", controller="greeting", state="removing") == 1
    assert site.http("/readyz")[0] == 200
    # It comes back, and does not start before the other is gone.
    pid = site.pids()["greeting"]
    site.write(site.main(controllers + controllers_of("nginx")))
    site.operatord.ctl("reload")
    wait_for("a worker anew", lambda: site.pids().get("greeting") not in (None, 0, pid), seconds=40)
    site.operatord.wait_live("greeting")
    wait_for("finalizers again", lambda: all(finalizers(objects, objects.greeting(n)) == [ours(site)] for n in "abcdefgh"), seconds=40)
    without(site)
    wait_for("removing", lambda: site.operatord.workers().get("greeting", {}).get("state") == "removing")
    assert site.operatord.stop() == 0
    assert "were let go of" in site.operatord.log()
    for name in "abcdefgh":
        unhold(objects, objects.greeting(name))
