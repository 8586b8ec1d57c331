"""dependsOn and readyWhen: what waits for what, and when an object is Ready."""

import time

from programs import wait_for
from sites import controllers_of


def child(kind, name, api_version="v1", **more):
    return {"id": name, "template": {"apiVersion": api_version, "kind": kind, "metadata": {"name": "${.metadata.name}-" + name}}, **more}


def start(site, *children, **more):
    controllers = controllers_of("greeting")
    controllers[0].update(children=list(children), status={"configMap": "x"}, **more)
    site.write(site.main(controllers))
    return site.start("greeting")


def make(objects, name="a", **spec):
    return objects.create(objects.greeting(), "Greeting", name, spec=spec)


def ready(objects, name="a"):
    return objects.condition(objects.greeting(name))


def waiting(objects, *words):
    wait_for(f"waiting for {words}", lambda: ready(objects).get("reason") == "WaitingForChild" and
             all(word in ready(objects)["message"] for word in words))
    assert objects.condition(objects.greeting("a"), "Reconciling").get("status") == "True"


def settled(objects):
    wait_for("Ready", lambda: ready(objects).get("status") == "True")


def quiet(site):
    """No writes for a second and a half."""
    time.sleep(0.3)
    before = site.writes()
    time.sleep(1.5)
    assert site.writes() == before


def annotate(objects, path, value):
    objects.kube.merge(path, {"metadata": {"annotations": {"ok": value}}})


READY_WHEN = '${$self.metadata.annotations.ok == "yes"}'


def test_a_child_waits_until_the_other_is_ready(site, objects):
    start(site, child("ConfigMap", "last", dependsOn=["first"]), child("ConfigMap", "first", readyWhen=READY_WHEN))
    make(objects)
    waiting(objects, "children[last] waits for children[first]: ConfigMap a-first: readyWhen is false")
    assert objects.kube.get_or_none(objects.configmap("a-last")) is None
    quiet(site)
    annotate(objects, objects.configmap("a-first"), "yes")
    settled(objects)
    assert objects.kube.get(objects.configmap("a-last"))
    quiet(site)


def test_one_that_is_no_longer_ready_deletes_nothing(site, objects):
    start(site, child("ConfigMap", "first", readyWhen=READY_WHEN), child("ConfigMap", "last", dependsOn=["first"]))
    make(objects)
    waiting(objects, "a-first")
    annotate(objects, objects.configmap("a-first"), "yes")
    settled(objects)
    kept = objects.kube.get(objects.configmap("a-last"))["metadata"]["uid"]
    annotate(objects, objects.configmap("a-first"), "no")
    waiting(objects, "children[first] is not ready: ConfigMap a-first: readyWhen is false")
    assert objects.kube.get(objects.configmap("a-last"))["metadata"]["uid"] == kept
    quiet(site)


def test_one_that_is_not_wanted_is_not_waited_for(site, objects):
    start(site, child("ConfigMap", "first", readyWhen=READY_WHEN, when="${get(.spec.audience; \"\") == \"all\"}"),
          child("ConfigMap", "last", dependsOn=["first"]))
    make(objects)
    settled(objects)
    assert objects.kube.get(objects.configmap("a-last"))
    assert objects.kube.get_or_none(objects.configmap("a-first")) is None


def test_an_expression_that_fails_is_not_ready(site, objects):
    start(site, child("ConfigMap", "first", readyWhen="${$self.metadata.name + 1 == 2}"))
    make(objects)
    waiting(objects, "children[first].readyWhen", "cannot be added")
    quiet(site)


def test_each_of_a_list_must_be_ready(site, objects):
    every = child("ConfigMap", "each", forEach={"word": "${.spec.audience | split(\",\")}"}, readyWhen="${$self.metadata.annotations[$word] == \"yes\"}")
    every["template"]["metadata"]["name"] = "${.metadata.name}-${$word}"
    start(site, every, child("ConfigMap", "last", dependsOn=["each"]))
    make(objects, audience="x,y")
    waiting(objects, "ConfigMap a-x")
    objects.kube.merge(objects.configmap("a-x"), {"metadata": {"annotations": {"x": "yes"}}})
    waiting(objects, "ConfigMap a-y")
    objects.kube.merge(objects.configmap("a-y"), {"metadata": {"annotations": {"y": "yes"}}})
    settled(objects)
    assert objects.kube.get(objects.configmap("a-last"))


def test_readiness_by_conditions(site, objects):
    """A kind that is not known: its condition Ready, for the generation that it is of."""
    start(site, child("UuidToken", "first", "demo.operator/v1"), child("ConfigMap", "last", dependsOn=["first"]))
    make(objects)
    settled(objects)  # it has no conditions, so there is nothing to wait for
    token = objects.uuidtoken("a-first")

    def condition(status):
        objects.kube.merge(token + "/status", {"status": {"conditions": [
            {"type": "Ready", "status": status, "reason": "Testing", "message": "by the test", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})

    condition("False")
    waiting(objects, "UuidToken a-first: Ready is False: Testing: by the test")
    condition("True")
    settled(objects)


def test_a_restart_waits_as_before(site, objects):
    start(site, child("ConfigMap", "first", readyWhen=READY_WHEN), child("ConfigMap", "last", dependsOn=["first"]))
    make(objects)
    waiting(objects, "a-first")
    site.operatord.stop()
    site.start("greeting")
    annotate(objects, objects.configmap("a-first"), "yes")
    settled(objects)
    assert objects.kube.get(objects.configmap("a-last"))
