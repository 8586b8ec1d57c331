"""Examples of more than one child: webapp (createOnly, an autoscaler) and database (dependsOn, readyWhen)."""

import time

from programs import wait_for
from sites import controllers_of


def start(site, name):
    site.write(site.main(controllers_of(name)))
    return site.start(name)


def quiet(site):
    time.sleep(0.3)
    before = site.writes()
    time.sleep(1.5)
    assert site.writes() == before


def test_webapp(site, objects):
    start(site, "webapp")
    webapps = objects.path("webapps", "demo.operator/v1")
    objects.create(webapps, "WebApp", "shop", spec={"image": "nginx:1.27", "host": "shop.example.com", "minReplicas": 2})
    deployment, service = objects.deployment("shop"), objects.path("services", "v1", "shop")
    ingress, scaler = objects.path("ingresses", "networking.k8s.io/v1", "shop"), objects.path("horizontalpodautoscalers", "autoscaling/v2", "shop")
    wait_for("all children", lambda: all(objects.kube.get_or_none(path) for path in (deployment, service, ingress, scaler)))
    path = f"{webapps}/shop"
    wait_for("Ready", lambda: objects.condition(path).get("status") == "True")
    assert objects.kube.get(path)["status"]["url"] == "http://shop.example.com/"
    assert objects.kube.get(deployment)["spec"]["replicas"] == 2
    assert objects.kube.get(scaler)["spec"]["maxReplicas"] == 3

    # The autoscaler's work: it stays.
    objects.kube.apply(deployment, {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop"}, "spec": {"replicas": 3}},
                       manager="kube-controller-manager")
    objects.kube.merge(path, {"spec": {"image": "nginx:1.28"}})
    wait_for("the image", lambda: objects.kube.get(deployment)["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.28")
    time.sleep(0.5)
    assert objects.kube.get(deployment)["spec"]["replicas"] == 3

    objects.kube.merge(path, {"spec": {"host": None}})
    wait_for("no Ingress", lambda: objects.kube.get_or_none(ingress) is None)
    wait_for("no URL", lambda: "url" not in objects.kube.get(path)["status"])


def ready_members(objects, server, n):
    """The members become ready: on a cluster without nodes by their Pods, on the development server by the status."""
    sets = objects.path("statefulsets", "apps/v1", "db")
    body = objects.kube.get(sets)
    objects.kube.merge(sets + "/status", {"status": {"observedGeneration": body["metadata"]["generation"], "replicas": n, "readyReplicas": n}})


def test_database(site, objects, server):
    start(site, "database")
    databases = objects.path("databases", "demo.operator/v1")
    objects.create(databases, "Database", "db", spec={"members": 3})
    path, sets = f"{databases}/db", objects.path("statefulsets", "apps/v1", "db")
    wait_for("the StatefulSet", lambda: objects.kube.get_or_none(sets))
    budget = wait_for("the budget", lambda: objects.kube.get_or_none(objects.path("poddisruptionbudgets", "policy/v1", "db")))
    assert budget["spec"]["minAvailable"] == 2
    env = {e["name"]: e.get("value") for e in objects.kube.get(sets)["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert env["MEMBERS"] == "db-0.db-peers,db-1.db-peers,db-2.db-peers"
    if (objects.kube.get(sets).get("status") or {}).get("readyReplicas", 0) < 2:
        wait_for("WaitingForChild", lambda: objects.condition(path).get("reason") == "WaitingForChild")
        assert "children[members]" in objects.condition(path)["message"]
        ready_members(objects, server, 2)
    wait_for("Ready", lambda: objects.condition(path).get("status") == "True")
    assert objects.kube.get_or_none(objects.path("services", "v1", "db"))
    wait_for("the endpoint", lambda: objects.kube.get(path)["status"].get("endpoint") == f"db.{objects.namespace}:2379")
    quiet(site)
