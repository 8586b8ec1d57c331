"""forEach: a child for each item of a list (examples/edge.yaml), and what is done with those that go."""

import time

from programs import wait_for
from sites import controllers_of


def start(site, **child):
    controllers = controllers_of("edge")
    controllers[0]["children"][0].update(child)
    site.write(site.main(controllers))
    return site.start("edge")


def make(objects, zones, name="web", **spec):
    body = {"apiVersion": "demo.operator/v1", "kind": "Edge", "metadata": {"name": name}, "spec": {"zones": zones, **spec}}
    return objects.kube.create(objects.edge(), body)


def zones(objects, name="web"):
    """The zones that have a ConfigMap of ours, with its data."""
    found = [c for c in objects.kube.items(objects.configmap()) if c["metadata"]["name"].startswith(name + "-")]
    return {c["data"]["zone"]: c for c in found}


def settled(objects, *want, name="web"):
    wait_for(f"zones {want}", lambda: sorted(zones(objects, name)) == sorted(want))
    wait_for("the status", lambda: objects.kube.get(objects.edge(name)).get("status", {}).get("zones") == ",".join(sorted(want)))
    wait_for("Ready", lambda: objects.condition(objects.edge(name)).get("status") == "True")


def test_a_child_for_each_item(site, objects):
    start(site)
    make(objects, ["north", "south", "west"], default="south")
    settled(objects, "north", "south", "west")
    data = zones(objects)["north"]["data"]
    assert data == {"zone": "north", "peers": "south,west", "home": "false"}
    assert zones(objects)["south"]["data"]["home"] == "true"


def test_items_come_and_go(site, objects):
    start(site)
    make(objects, ["a", "b"])
    settled(objects, "a", "b")
    kept = zones(objects)["a"]["metadata"]["uid"]
    objects.kube.merge(objects.edge("web"), {"spec": {"zones": ["a", "c"]}})
    settled(objects, "a", "c")
    assert zones(objects)["a"]["metadata"]["uid"] == kept
    objects.kube.merge(objects.edge("web"), {"spec": {"zones": []}})
    settled(objects)


def test_one_of_many_is_repaired(site, objects):
    start(site)
    make(objects, ["a", "b"])
    settled(objects, "a", "b")
    repairs = site.metric("operatord_drift_repairs_total")
    objects.kube.delete(objects.configmap("web-a"))
    settled(objects, "a", "b")
    wait_for("the repair counted", lambda: site.metric("operatord_drift_repairs_total", controller="edge", child="config") == repairs + 1)
    objects.kube.merge(objects.edge("web"), {"spec": {"zones": ["a", "b", "c"]}})
    settled(objects, "a", "b", "c")
    assert site.metric("operatord_drift_repairs_total") == repairs + 1


def test_a_list_that_is_not_known_keeps_what_exists(site, objects):
    """Null and errors are doubts: nothing is deleted on one."""
    start(site, forEach={"zone": "${.spec.zones | map(if . == \"bad\" then error(\"no\") else . end)}"})
    make(objects, ["a", "b"])
    settled(objects, "a", "b")
    for doubt in (None, ["a", "bad"]):
        objects.kube.merge(objects.edge("web"), {"spec": {"zones": doubt}})
        wait_for("RenderFailed", lambda: objects.condition(objects.edge("web")).get("reason") == "RenderFailed")
        assert sorted(zones(objects)) == ["a", "b"]
        objects.kube.merge(objects.edge("web"), {"spec": {"zones": ["a", "b"]}})
        settled(objects, "a", "b")


def test_two_items_of_one_name_are_an_error_of_the_object(site, objects):
    start(site)
    make(objects, ["a", "A", "b"], name="twin")
    wait_for("RenderFailed", lambda: objects.condition(objects.edge("twin")).get("reason") == "RenderFailed")
    assert "two items of forEach give one name, ConfigMap twin-a" in objects.condition(objects.edge("twin"))["message"]
    make(objects, ["a"])
    settled(objects, "a")


def test_many_converge_and_then_nothing_is_written(site, objects):
    start(site)
    names = [f"z{i:02}" for i in range(40)]
    make(objects, names)
    settled(objects, *names)
    time.sleep(0.5)
    before = site.writes()
    objects.kube.merge(objects.edge("web"), {"metadata": {"labels": {"seen": "1"}}})
    time.sleep(1.5)
    assert site.writes() == before
