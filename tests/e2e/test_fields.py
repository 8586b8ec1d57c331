"""Fields that others have: createOnly, ignoreFields, adopt, update, and drift of what is ours."""

import json
import time

from programs import wait_for
from sites import controllers_of


def nginx(site, **child):
    controllers = controllers_of("nginx")
    controllers[0]["children"][0].update(child)
    site.write(site.main(controllers))
    return site.start("nginx")


def greeting(site, data=None, **child):
    controllers = controllers_of("greeting")
    controllers[0]["children"][0].update(child)
    if data:
        controllers[0]["children"][0]["template"].update(data)
    site.write(site.main(controllers))
    return site.start("greeting")


def make(objects, name="a", **spec):
    return objects.create(objects.greeting(), "Greeting", name, spec=spec)


def ready(objects, path):
    wait_for(f"{path} Ready", lambda: objects.condition(path).get("status") == "True")


def deployment(objects, name="web-deploy"):
    return objects.kube.get_or_none(objects.deployment(name))


def replicas(objects):
    return (deployment(objects) or {"spec": {}})["spec"].get("replicas")


def quiet(site):
    time.sleep(0.3)
    before = site.writes()
    time.sleep(1.5)
    assert site.writes() == before


def scale(objects, n, manager="autoscaler"):
    objects.kube.apply(objects.deployment("web-deploy"), {"apiVersion": "apps/v1", "kind": "Deployment",
                       "metadata": {"name": "web-deploy"}, "spec": {"replicas": n}}, manager=manager)


def test_create_only_is_sent_once_and_then_left_to_others(site, objects):
    nginx(site, createOnly=["spec.replicas"])
    objects.create_nginx("web", {"replicas": 3})
    wait_for("three replicas", lambda: replicas(objects) == 3)
    ready(objects, objects.nginx("web"))
    objects.kube.merge(objects.nginx("web"), {"spec": {"replicas": 5}})
    quiet(site)
    assert replicas(objects) == 3  # ours, but only to be made with
    repairs = site.metric("operatord_drift_repairs_total")
    scale(objects, 7)
    wait_for("the field left to the other", lambda: not any(
        "f:replicas" in json.dumps(m.get("fieldsV1", {}).get("f:spec", {})) for m in deployment(objects)["metadata"]["managedFields"]
        if m["manager"].startswith("operatord/")))
    quiet(site)
    assert replicas(objects) == 7
    assert site.metric("operatord_drift_repairs_total") == repairs
    site.operatord.stop()
    site.start("nginx")
    quiet(site)
    assert replicas(objects) == 7
    objects.kube.delete(objects.deployment("web-deploy"))
    wait_for("made anew as the object says", lambda: replicas(objects) == 5)


def test_create_only_survives_a_repair(site, objects):
    """The trap: a field left out of an apply falls back to its default."""
    nginx(site, createOnly=["spec.replicas"])
    objects.create_nginx("web", {"replicas": 3})
    wait_for("three replicas", lambda: replicas(objects) == 3)
    ready(objects, objects.nginx("web"))
    objects.kube.apply(objects.deployment("web-deploy"), {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {
        "name": "web-deploy", "labels": {"app": "taken"}}}, manager="somebody")
    wait_for("the label repaired", lambda: deployment(objects)["metadata"]["labels"]["app"] == "underneathall")
    assert replicas(objects) == 3


def test_create_only_of_an_adopted_object_is_not_taken(site, objects):
    nginx(site, createOnly=["spec.replicas"])
    labels = {"app": "underneathall", "underneathall-app": "nginx-web"}
    objects.kube.apply(objects.deployment("web-deploy"), {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web-deploy"},
        "spec": {"replicas": 4, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels}, "spec": {"containers": [{"name": "nginx", "image": "other:1"}]}}}}, manager="helm")
    objects.create_nginx("web", {"replicas": 1})
    ready(objects, objects.nginx("web"))
    assert replicas(objects) == 4
    assert deployment(objects)["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.7.9"
    quiet(site)


def test_ignored_fields_are_not_applied(site, objects):
    greeting(site, ignoreFields=["data.greeting", "metadata.labels.free"],
             data={"metadata": {"name": "${.metadata.name}", "labels": {"free": "a", "ours": "b"}}, "data": {"greeting": "x", "kept": "y"}})
    make(objects)
    ready(objects, objects.greeting("a"))
    made = objects.kube.get(objects.configmap("a"))
    assert made["data"] == {"kept": "y"} and made["metadata"]["labels"]["ours"] == "b" and "free" not in made["metadata"]["labels"]
    objects.kube.merge(objects.configmap("a"), {"data": {"greeting": "theirs"}})
    quiet(site)
    assert objects.kube.get(objects.configmap("a"))["data"] == {"kept": "y", "greeting": "theirs"}


def test_what_others_made_is_left_alone(site, objects):
    greeting(site, adopt=False)
    objects.kube.create(objects.configmap(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"other": "1"}})
    make(objects)
    make(objects, "b")
    ready(objects, objects.greeting("b"))
    wait_for("ApplyConflict", lambda: objects.condition(objects.greeting("a")).get("reason") == "ApplyConflict")
    assert "adopt: false" in objects.condition(objects.greeting("a"))["message"]
    theirs = objects.kube.get(objects.configmap("a"))
    assert theirs["data"] == {"other": "1"} and "ownerReferences" not in theirs["metadata"]
    objects.kube.delete(objects.configmap("a"))
    objects.kube.merge(objects.greeting("a"), {"spec": {"audience": "me"}})
    ready(objects, objects.greeting("a"))
    quiet(site)
    site.operatord.stop()  # what we made is ours after a restart too
    site.start("greeting")
    quiet(site)
    assert objects.condition(objects.greeting("a"))["status"] == "True"


def selector(site, **child):
    """A Deployment whose selector, which can't be changed, follows the object."""
    controllers = controllers_of("nginx")
    made = controllers[0]["children"][0]
    made.update(child)
    labels = {"app": "n${get(.spec.replicas; 1)}"}
    made["template"]["spec"]["selector"]["matchLabels"] = labels
    made["template"]["spec"]["template"]["metadata"]["labels"] = labels
    site.write(site.main(controllers))
    return site.start("nginx")


def test_an_immutable_field_is_reported(site, objects):
    selector(site)
    objects.create_nginx("web", {"replicas": 1})
    ready(objects, objects.nginx("web"))
    uid = deployment(objects)["metadata"]["uid"]
    objects.kube.merge(objects.nginx("web"), {"spec": {"replicas": 2}})
    wait_for("ApplyRejected", lambda: objects.condition(objects.nginx("web")).get("reason") == "ApplyRejected")
    assert "immutable" in objects.condition(objects.nginx("web"))["message"]
    assert deployment(objects)["metadata"]["uid"] == uid


def test_recreate_makes_it_anew_for_that_cause_only(site, objects):
    selector(site, update="recreate")
    objects.create_nginx("web", {"replicas": 1})
    ready(objects, objects.nginx("web"))
    uid = deployment(objects)["metadata"]["uid"]
    objects.kube.merge(objects.nginx("web"), {"spec": {"replicas": 2}})
    wait_for("another Deployment", lambda: (deployment(objects) or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid)
    ready(objects, objects.nginx("web"))
    uid = deployment(objects)["metadata"]["uid"]
    assert deployment(objects)["spec"]["selector"]["matchLabels"] == {"app": "n2"}
    objects.kube.merge(objects.nginx("web"), {"spec": {"replicas": -1}})
    wait_for("ApplyRejected", lambda: objects.condition(objects.nginx("web")).get("reason") == "ApplyRejected")
    assert deployment(objects)["metadata"]["uid"] == uid


def events(objects, reason):
    path = objects.path("events", "events.k8s.io/v1")
    return [e["note"] for e in objects.kube.items(path) if e["reason"] == reason]


def test_a_repair_says_what_was_changed_and_by_whom(site, objects):
    nginx(site)
    objects.create_nginx("web", {"replicas": 2})
    ready(objects, objects.nginx("web"))
    began = time.monotonic()
    scale(objects, 9, manager="somebody")
    wait_for("repaired", lambda: replicas(objects) == 2)
    assert time.monotonic() - began < 1.0
    wait_for("the Event", lambda: any("spec.replicas had been changed by somebody" in note for note in events(objects, "Repaired")))
    wait_for("the line", lambda: "spec.replicas had been changed by somebody" in site.operatord.log())


def test_what_is_not_ours_is_no_drift(site, objects):
    """E105: nested defaults; and additions to lists, spellings of quantities, statuses."""
    controllers = controllers_of("nginx")
    pod = controllers[0]["children"][0]["template"]["spec"]["template"]["spec"]
    pod["containers"][0].update(resources={"limits": {"cpu": "1000m"}}, env=[
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])
    site.write(site.main(controllers))
    site.start("nginx")
    objects.create_nginx("web", {"replicas": 1})
    ready(objects, objects.nginx("web"))
    quiet(site)
    repairs = site.metric("operatord_drift_repairs_total")
    objects.kube.apply(objects.deployment("web-deploy"), {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {
        "name": "web-deploy", "annotations": {"theirs": "x"}}, "spec": {"template": {"spec": {"containers": [
            {"name": "sidecar", "image": "sidecar:1"}]}}}}, manager="injector")
    quiet(site)
    assert {c["name"] for c in deployment(objects)["spec"]["template"]["spec"]["containers"]} == {"nginx", "sidecar"}
    assert site.metric("operatord_drift_repairs_total") == repairs


def test_a_conflict_that_may_not_be_forced_names_the_field_and_slows_down(site, objects):
    """E113."""
    greeting(site, conflict="fail")
    make(objects)
    ready(objects, objects.greeting("a"))
    objects.kube.apply(objects.configmap("a"), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
                       "data": {"greeting": "theirs"}}, manager="human")
    wait_for("ApplyConflict", lambda: objects.condition(objects.greeting("a")).get("reason") == "ApplyConflict")
    assert "greeting" in objects.condition(objects.greeting("a"))["message"]
    time.sleep(1.5)
    before = site.metric("operatord_child_writes_total")
    time.sleep(1.5)
    assert site.metric("operatord_child_writes_total") - before <= 2
    assert objects.kube.get(objects.configmap("a"))["data"]["greeting"] == "theirs"


def test_a_child_that_was_there_with_our_reference_is_taken_up(site, objects):
    """E109: an object of the child's name, owned by the parent already, is no error for ever."""
    made = make(objects)
    objects.kube.create(objects.configmap(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "ownerReferences": [
        {"apiVersion": "demo.operator/v1", "kind": "Greeting", "name": "a", "uid": made["metadata"]["uid"], "controller": True}]}})
    greeting(site)
    ready(objects, objects.greeting("a"))
    assert objects.kube.get(objects.configmap("a"))["data"]["greeting"] == "Hello, world!"
    quiet(site)


def test_what_the_server_refuses_is_in_the_status(site, objects):
    """E115: a label that is too long."""
    greeting(site, data={"metadata": {"name": "${.metadata.name}", "labels": {"long": "${\"x\" * 64}"}}})
    make(objects)
    wait_for("ApplyRejected", lambda: objects.condition(objects.greeting("a")).get("reason") == "ApplyRejected")
    assert "labels" in objects.condition(objects.greeting("a"))["message"]
    assert objects.condition(objects.greeting("a"), "Stalled").get("status") == "True"


def test_a_fight_slows_down_and_is_shown(site, objects):
    nginx(site)
    objects.create_nginx("web", {"replicas": 2})
    ready(objects, objects.nginx("web"))
    taken = 0
    deadline = time.monotonic() + 20
    while objects.condition(objects.nginx("web"), "Stalled").get("status") != "True":
        assert time.monotonic() < deadline, objects.kube.get(objects.nginx("web"))["status"]
        if replicas(objects) == 2:
            scale(objects, 9, manager="somebody")
            taken += 1
        time.sleep(0.02)
    assert taken <= 12
    assert objects.condition(objects.nginx("web"))["reason"] == "ApplyConflict"
    assert "changed by others again and again" in objects.condition(objects.nginx("web"))["message"]
    wait_for("repaired all the same", lambda: replicas(objects) == 2, seconds=60)
    quiet(site)


def test_repairs_are_counted_by_child_whatever_its_place(site, objects):
    def counted(child):
        return site.metric("operatord_drift_repairs_total", controller="greeting", child=child)

    def children(*names):
        controllers = controllers_of("greeting")
        controllers[0].update(children=[{"id": name, "template": {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "${.metadata.name}-" + name}}} for name in names])
        return site.write(site.main(controllers))

    children("one", "two")
    site.start("greeting")
    make(objects)
    ready(objects, objects.greeting("a"))
    objects.kube.delete(objects.configmap("a-two"))
    wait_for("the repair counted", lambda: counted("two") == 1)
    children("two", "three")
    site.operatord.ctl("reload")
    wait_for("the new child", lambda: objects.kube.get_or_none(objects.configmap("a-three")))
    wait_for("counts of the new children", lambda: "child=\"three\"" in site.http("/metrics")[1])
    assert (counted("two"), counted("three"), counted("one")) == (1, 0, 0)
