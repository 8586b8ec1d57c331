"""The uuid operator, on a CRD without the status subresource and on one with it."""

import re
import time

import pytest

from kubeclient import load
from sites import CRDS, EXAMPLES, controllers_of, serve_crd
from programs import wait_for

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@pytest.fixture(params=["uuid", "uuid-status"])
def kind(request, site, objects):
    """(site, controllers, path of an object or of all, create): the same tests for both CRDs."""
    plain = request.param == "uuid"
    path = objects.uuid if plain else objects.uuidtoken
    return site, controllers_of(request.param), path, lambda name, **more: objects.create(path(), "Uuid" if plain else "UuidToken", name, **more)


def status(objects, path):
    return objects.kube.get(path).get("status") or {}


def test_fills_the_status_once(kind, objects):
    site, controllers, path, create = kind
    site.write(site.main(controllers))
    site.start(controllers[0]["name"])
    create("one")
    create("two")
    one = wait_for("a uuid", lambda: status(objects, path("one")).get("uuid"))
    two = wait_for("a uuid", lambda: status(objects, path("two")).get("uuid"))
    assert UUID4.fullmatch(one) and UUID4.fullmatch(two) and one != two
    assert status(objects, path("one"))["state"] == "Ok" and status(objects, path("one"))["message"]


def test_an_update_and_a_restart_keep_it(kind, objects):
    site, controllers, path, create = kind
    site.write(site.main(controllers))
    site.start(controllers[0]["name"])
    create("one")
    first = wait_for("a uuid", lambda: status(objects, path("one")).get("uuid"))
    objects.kube.merge(path("one"), {"metadata": {"labels": {"touched": "yes"}}})
    time.sleep(1)
    assert status(objects, path("one"))["uuid"] == first
    site.close()
    version = objects.kube.get(path("one"))["metadata"]["resourceVersion"]
    site.start(controllers[0]["name"])
    wait_for("a reconcile", lambda: site.metric("controller_runtime_reconcile_total", result="success") >= 1)
    time.sleep(1)
    assert status(objects, path("one"))["uuid"] == first
    assert objects.kube.get(path("one"))["metadata"]["resourceVersion"] == version


def test_no_writes_after_convergence(kind, objects):
    """E87, E129: pruned conditions and our own status writes lead to no loop."""
    site, controllers, path, create = kind
    site.write(site.main(controllers))
    site.start(controllers[0]["name"])
    create("one")
    wait_for("a uuid", lambda: status(objects, path("one")).get("uuid"))
    time.sleep(1)
    before = site.writes()
    time.sleep(4)
    assert site.writes() == before


def test_a_failure_shows_and_is_overcome(kind, objects):
    """State Error and uuid NA with the cause; then a uuid, which a later failure does not take away."""
    site, controllers, path, create = kind
    name = controllers[0]["name"]
    controllers[0]["status"]["message"] = "${if .metadata.labels.fail then error(\"told to fail\") else \"UUID created\" end}"
    site.write(site.main(controllers))
    site.start(name)
    create("bad", labels={"fail": "yes"})
    failed = wait_for("state Error", lambda: status(objects, path("bad")).get("state") == "Error" and status(objects, path("bad")))
    assert failed["uuid"] == "NA" and "told to fail" in failed["message"]
    objects.kube.merge(path("bad"), {"metadata": {"labels": {"fail": None}}})
    good = wait_for("state Ok", lambda: status(objects, path("bad")).get("state") == "Ok" and status(objects, path("bad")))
    assert UUID4.fullmatch(good["uuid"])
    objects.kube.merge(path("bad"), {"metadata": {"labels": {"fail": "yes"}}})
    again = wait_for("state Error", lambda: status(objects, path("bad")).get("state") == "Error" and status(objects, path("bad")))
    assert again["uuid"] == good["uuid"]


def test_a_status_subresource_that_goes(site, objects):
    """E127: 404 on /status of an object that is there is told from an object that is gone, once, and the status gets to the object itself."""
    crd = load(f"{EXAMPLES}/crds/greeting.yaml")[0]
    crd["spec"]["group"] = "late.example.com"
    crd["metadata"]["name"] = "greetings.late.example.com"
    serve_crd(site.server.kube, crd)
    controllers = controllers_of("greeting")
    controllers[0]["resource"] = "greetings.v1.late.example.com"
    site.write(site.main(controllers))
    site.start("greeting")

    def create(name):
        path = objects.path("greetings", "late.example.com/v1")
        site.server.kube.create(path, {"apiVersion": "late.example.com/v1", "kind": "Greeting", "metadata": {"name": name}})
        wait_for(f"the status of {name}", lambda: status(objects, f"{path}/{name}").get("configMap") == name)
    create("before")
    del crd["spec"]["versions"][0]["subresources"]
    site.server.kube.merge(f"{CRDS}/{crd['metadata']['name']}", {"spec": {"versions": crd["spec"]["versions"]}})
    wait_for("no subresource", lambda: not any(
        r["name"] == "greetings/status" for r in site.server.kube.get("/apis/late.example.com/v1")["resources"]))
    for name in ("one", "two", "three"):
        create(name)
    assert site.operatord.log().count("has no status subresource") <= 1
    assert '"level":"error"' not in site.operatord.log()
    site.server.kube.delete(f"{CRDS}/{crd['metadata']['name']}")
