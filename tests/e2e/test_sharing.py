"""Who a child belongs to: objects that were there before, other controllers, other installations."""

import copy

from programs import wait_for
from sites import controllers_of


def replicas(objects, name):
    found = objects.kube.get_or_none(objects.deployment(name))
    return None if found is None else found["spec"]["replicas"]


def events(objects):
    return objects.kube.items(objects.path("events", "events.k8s.io/v1"))


def two_controllers(second_child):
    """nginx as it is, and another controller on the same resource whose child has this name."""
    first = controllers_of("nginx")
    second = copy.deepcopy(first)
    second[0]["name"] = "second"
    second[0]["children"][0]["template"]["metadata"]["name"] = second_child
    return first + second


def settled_writes(site):
    """The number of writes once it has stood for two seconds."""
    seen = []

    def stands():
        seen.append(site.writes())
        return len(seen) > 20 and len(set(seen[-20:])) == 1

    wait_for("no more writes", stands, seconds=30, pause=0.1)
    return seen[-1]


def test_what_was_there_is_adopted_and_said_so(site, objects):
    objects.kube.create(objects.configmap(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old"},
                                              "data": {"mine": "kept", "greeting": "theirs"}})
    site.write(site.main(controllers_of("greeting")))
    site.start("greeting")
    objects.create(objects.greeting(), "Greeting", "old", spec={"audience": "x"})
    wait_for("its text", lambda: objects.kube.get(objects.configmap("old"))["data"]["greeting"] == "Hello, x!")
    assert objects.kube.get(objects.configmap("old"))["data"]["mine"] == "kept"
    event = wait_for("the Event", lambda: [e for e in events(objects) if e["reason"] == "Adopted"])[0]
    assert "ConfigMap" in event["note"] and "was there" in event["note"]
    assert not [e for e in events(objects) if e["reason"] == "Created"]


def test_two_controllers_that_want_one_child(site, objects):
    """The second takes nothing from the first: a condition names who has it, and they do not write against each other."""
    site.write(site.main(two_controllers("${.metadata.name}-deploy")))
    site.start("nginx", "second")
    objects.create_nginx("web", {"replicas": 2})
    wait_for("the Deployment", lambda: replicas(objects, "web-deploy") == 2)
    wait_for("the loser says so", lambda: "is not taken from it" in site.operatord.log())
    settled_writes(site)
    labels = objects.kube.get(objects.deployment("web-deploy"))["metadata"]["labels"]
    assert labels["operatord.io/controller"] in ("nginx", "second")
    assert site.metric("operatord_drift_repairs_total") == 0


def test_two_controllers_with_children_of_their_own(site, objects):
    site.write(site.main(two_controllers("${.metadata.name}-second")))
    site.start("nginx", "second")
    objects.create_nginx("web", {"replicas": 2})
    wait_for("both", lambda: replicas(objects, "web-deploy") == 2 and replicas(objects, "web-second") == 2)
    settled_writes(site)
    objects.kube.merge(objects.nginx("web"), {"spec": {"replicas": 3}})
    wait_for("both again", lambda: replicas(objects, "web-deploy") == 3 and replicas(objects, "web-second") == 3)
    settled_writes(site)


def test_a_renamed_controller_takes_what_its_former_self_left(site, objects):
    site.write(site.main(controllers_of("nginx")))
    site.start("nginx")
    objects.create_nginx("web", {"replicas": 2})
    wait_for("the Deployment", lambda: replicas(objects, "web-deploy") == 2)
    renamed = controllers_of("nginx")
    renamed[0]["name"] = "webserver"
    site.write(site.main(renamed))
    site.operatord.ctl("reload")
    site.operatord.wait_live("webserver")
    wait_for("its label", lambda: objects.kube.get(objects.deployment("web-deploy"))["metadata"]["labels"]
             ["operatord.io/controller"] == "webserver")
    objects.kube.merge(objects.nginx("web"), {"spec": {"replicas": 4}})
    wait_for("four", lambda: replicas(objects, "web-deploy") == 4)
    settled_writes(site)


def test_another_installation_keeps_what_it_has(site, objects):
    site.write(site.main(controllers_of("nginx")))
    site.start("nginx")
    objects.create_nginx("web", {"replicas": 2})
    wait_for("the Deployment", lambda: replicas(objects, "web-deploy") == 2)
    site.close()
    site.write(site.main(controllers_of("nginx"), instance="other"))
    site.start("nginx")
    condition = wait_for("the condition", lambda: (lambda c: c if c.get("reason") == "ApplyConflict" else None)(
        objects.condition(objects.nginx("web"))))
    assert f"operatord/{objects.namespace}/nginx" in condition["message"]
    labels = objects.kube.get(objects.deployment("web-deploy"))["metadata"]["labels"]
    assert labels["operatord.io/instance"] == objects.namespace
    settled_writes(site)


def test_the_last_child_of_its_kind_goes_with_the_config(site, objects):
    """No child names its kind any more: what is left of it is found and pruned all the same, and a killed worker still knows."""
    both = controllers_of("nginx")
    both[0]["children"].append({"id": "text", "template": {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "${.metadata.name}-text"}, "data": {"a": "b"}}})
    site.write(site.main(both))
    site.start("nginx")
    for name in ("one", "two"):
        objects.create_nginx(name, {"replicas": 1})
    wait_for("both ConfigMaps", lambda: all(objects.kube.get_or_none(objects.configmap(f"{n}-text")) for n in ("one", "two")))
    site.write(site.main(controllers_of("nginx")))
    site.operatord.ctl("reload")
    wait_for("no ConfigMap", lambda: not [c for c in objects.kube.items(objects.configmap()) if c["metadata"]["name"].endswith("-text")])
    assert replicas(objects, "one-deploy") == 1 and replicas(objects, "two-deploy") == 1
    settled_writes(site)
    site.write(site.main(both))
    site.operatord.ctl("reload")
    wait_for("both again", lambda: all(objects.kube.get_or_none(objects.configmap(f"{n}-text")) for n in ("one", "two")))
    settled_writes(site)
