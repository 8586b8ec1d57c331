"""The nginx operator: a Deployment for each Nginx, kept in step."""

import base64
import os
import signal
import time

import yaml

from faultproxy import Rule, status_of
from kubeclient import load
from sites import controllers_of
from programs import wait_for


def start(site):
    site.write(site.main(controllers_of("nginx")))
    return site.start("nginx")


def replicas(objects, name):
    deployment = objects.kube.get_or_none(objects.deployment(name))
    return deployment and deployment["spec"]["replicas"]


def play_kubelet(objects, wanted):
    """A real API server without nodes: the test makes the Pods ready, and the Deployment's controller counts them."""
    pods = objects.path("pods", "v1")
    wait_for("the Pods", lambda: len([p for p in objects.kube.items(pods) if not p["metadata"].get("deletionTimestamp")]) == wanted)
    for pod in objects.kube.items(pods):
        objects.kube.merge(f"{pods}/{pod['metadata']['name']}/status", {"status": {
            "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})


def test_creates_the_deployment_that_the_template_says(site, objects):
    start(site)
    nginx = objects.create_nginx("web", {"replicas": 3})
    deployment = wait_for("the Deployment", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")))
    labels = {"app": "underneathall", "underneathall-app": "nginx-web"}
    assert labels.items() <= deployment["metadata"]["labels"].items()
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    assert deployment["spec"]["template"]["metadata"]["labels"] == labels
    assert deployment["spec"]["replicas"] == 3
    containers = deployment["spec"]["template"]["spec"]["containers"]
    assert [(c["name"], c["image"], c["ports"][0]["containerPort"]) for c in containers] == [("nginx", "nginx:1.7.9", 80)]
    owner = deployment["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["name"], owner["uid"], owner["controller"]) == ("Nginx", "web", nginx["metadata"]["uid"], True)
    assert deployment["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "operatord"
    assert deployment["metadata"]["labels"]["operatord.io/owner-uid"] == nginx["metadata"]["uid"]


def test_one_replica_when_the_spec_says_none(site, objects):
    """E97: an optional field that is absent."""
    start(site)
    objects.create_nginx("bare")
    objects.create_nginx("empty", {})
    wait_for("one replica each", lambda: replicas(objects, "bare-deploy") == 1 and replicas(objects, "empty-deploy") == 1)


def test_objects_that_were_there_before_the_start(site, objects):
    objects.create_nginx("early", {"replicas": 2})
    start(site)
    wait_for("the Deployment", lambda: replicas(objects, "early-deploy") == 2)


def test_follows_changes_and_reports(site, objects, server):
    start(site)
    objects.create_nginx("web", {"replicas": 1})
    wait_for("one replica", lambda: replicas(objects, "web-deploy") == 1)
    for wanted in (4, 2):
        objects.kube.merge(objects.nginx("web"), {"spec": {"replicas": wanted}})
        wait_for(f"{wanted} replicas", lambda: replicas(objects, "web-deploy") == wanted)
    if server.real:
        play_kubelet(objects, 2)
    wait_for("status", lambda: objects.kube.get(objects.nginx("web"))["status"]["readyReplicas"] == 2)
    ready = wait_for("Ready", lambda: objects.condition(objects.nginx("web")))
    generation = objects.kube.get(objects.nginx("web"))["metadata"]["generation"]
    assert ready["status"] == "True" and ready["reason"] == "Succeeded"
    wait_for("observedGeneration", lambda: objects.condition(objects.nginx("web"))["observedGeneration"] == generation)


def test_repairs_a_deleted_and_an_edited_child(site, objects):
    start(site)
    objects.create_nginx("web", {"replicas": 2})
    first = wait_for("the Deployment", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")))
    objects.kube.delete(objects.deployment("web-deploy"))
    wait_for("a new Deployment", lambda: (objects.kube.get_or_none(objects.deployment("web-deploy")) or first)
             ["metadata"]["uid"] != first["metadata"]["uid"])
    objects.kube.apply(objects.deployment("web-deploy"), {"apiVersion": "apps/v1", "kind": "Deployment",
                       "metadata": {"name": "web-deploy"}, "spec": {"replicas": 7}}, manager="somebody")
    wait_for("two replicas again", lambda: replicas(objects, "web-deploy") == 2)
    wait_for("both repairs counted", lambda: site.metric("operatord_drift_repairs_total") >= 2)


def test_the_child_goes_with_its_owner(site, objects):
    start(site)
    objects.create_nginx("web", {"replicas": 1})
    wait_for("the Deployment", lambda: replicas(objects, "web-deploy") == 1)
    objects.kube.delete(objects.nginx("web"))
    # The collector of a real cluster looks for kinds that are new to it every 30 s.
    wait_for("no Deployment", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")) is None, seconds=90)


def test_no_writes_after_convergence(site, objects):
    """E87: nothing is written while nothing changes, nor because of what we wrote ourselves."""
    start(site)
    for i in range(5):
        objects.create_nginx(f"web-{i}", {"replicas": 1})
    wait_for("all ready", lambda: all(objects.condition(objects.nginx(f"web-{i}")).get("status") == "True" for i in range(5)))

    def quiet():
        before = site.writes()
        time.sleep(1)  # what is measured is that nothing happens for a time
        return site.writes() == before

    wait_for("the status of the children settled", quiet)
    before, versions = site.writes(), [o["metadata"]["resourceVersion"] for o in objects.kube.items(objects.nginx())]
    time.sleep(6)
    assert site.writes() == before
    assert [o["metadata"]["resourceVersion"] for o in objects.kube.items(objects.nginx())] == versions


def test_a_restart_rewrites_nothing(site, objects):
    start(site)
    objects.create_nginx("web", {"replicas": 1})
    wait_for("Ready", lambda: objects.condition(objects.nginx("web")).get("status") == "True")
    wait_for("the child's own status settled", lambda: objects.kube.get(objects.deployment("web-deploy"))
             .get("status", {}).get("observedGeneration"))
    time.sleep(1)
    before = [objects.kube.get(path)["metadata"]["resourceVersion"] for path in
              (objects.nginx("web"), objects.deployment("web-deploy"))]
    site.close()
    site.start("nginx")
    wait_for("a reconcile", lambda: site.metric("controller_runtime_reconcile_total", result="success") >= 1)
    time.sleep(2)
    after = [objects.kube.get(path)["metadata"]["resourceVersion"] for path in
             (objects.nginx("web"), objects.deployment("web-deploy"))]
    assert after == before


def test_deletions_while_it_was_away(site, objects):
    """E79, E133's kind: what went while nobody watched does not come back."""
    start(site)
    objects.create_nginx("stays", {"replicas": 1})
    objects.create_nginx("goes", {"replicas": 1})
    wait_for("both", lambda: replicas(objects, "stays-deploy") and replicas(objects, "goes-deploy"))
    site.close()
    objects.kube.delete(objects.nginx("goes"))
    site.start("nginx")
    wait_for("one object", lambda: site.metric("operatord_objects") == 1)
    wait_for("its Deployment gone", lambda: objects.kube.get_or_none(objects.deployment("goes-deploy")) is None, seconds=90)
    assert replicas(objects, "stays-deploy") == 1


def test_a_child_renamed_by_the_config_is_pruned(site, objects):
    start(site)
    objects.create_nginx("web", {"replicas": 1})
    wait_for("the Deployment", lambda: replicas(objects, "web-deploy") == 1)
    controllers = controllers_of("nginx")
    controllers[0]["children"][0]["template"]["metadata"]["name"] = "${.metadata.name}-renamed"
    site.write(site.main(controllers))
    site.operatord.ctl("reload")
    wait_for("the new name", lambda: replicas(objects, "web-renamed") == 1)
    wait_for("the old one pruned", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")) is None)


def test_an_object_that_cannot_be_rendered_touches_no_other(site, objects):
    """A condition and an Event on the broken one; the others converge."""
    controllers = controllers_of("nginx")
    controllers[0]["children"][0]["template"]["spec"]["replicas"] = "${if .spec.replicas == 13 then error(\"13 is unlucky\") else .spec.replicas end}"
    site.write(site.main(controllers))
    site.start("nginx")
    objects.create_nginx("broken", {"replicas": 13})
    objects.create_nginx("fine", {"replicas": 1})
    wait_for("the fine one", lambda: objects.condition(objects.nginx("fine")).get("status") == "True")
    ready = wait_for("the condition", lambda: objects.condition(objects.nginx("broken")))
    assert (ready["status"], ready["reason"]) == ("False", "RenderFailed")
    assert "spec.replicas" in ready["message"] and "13 is unlucky" in ready["message"]
    events = objects.path("events", "events.k8s.io/v1")
    event = wait_for("the Event", lambda: next((e for e in objects.kube.items(events)
                     if e["regarding"]["name"] == "broken" and e["reason"] == "RenderFailed"), None))
    assert event["type"] == "Warning" and event["reportingController"] == "operatord.io/nginx"
    assert objects.kube.get_or_none(objects.deployment("broken-deploy")) is None
    objects.kube.merge(objects.nginx("broken"), {"spec": {"replicas": 12}})
    wait_for("it recovers", lambda: objects.condition(objects.nginx("broken")).get("status") == "True")


def test_two_changes_one_upon_the_other(site, objects, proxy):
    """E91, E139: the second comes while the first is in work, and a status write meets a 409; in the end all speaks of the last, and no error is logged."""
    proxy.add(Rule(method="PATCH", path="/nginx/web/status", times=2, status=409, body=status_of(409, "Conflict")))
    site.write(site.main(controllers_of("nginx")))
    site.start("nginx", kubeconfig=proxy.kubeconfig())
    objects.create_nginx("web", {"replicas": 1})
    wait_for("the Deployment", lambda: replicas(objects, "web-deploy") == 1)
    for n in range(2, 30):
        objects.kube.merge(objects.nginx("web"), {"spec": {"replicas": n}})

    def settled():
        found = objects.kube.get(objects.nginx("web"))
        conditions = {c["type"]: c for c in found["status"]["conditions"]}
        return (replicas(objects, "web-deploy") == 29 and conditions["Ready"]["observedGeneration"] == found["metadata"]["generation"]
                and "Stalled" not in conditions and conditions["Ready"]["reason"] in ("Succeeded", "WaitingForChild"))
    wait_for("generation and status agree", settled)
    assert site.metric("rest_client_requests_total", code="409") >= 2
    assert '"level":"error"' not in site.operatord.log()
    site.close()  # before the proxy goes


def test_no_series_is_an_objects(site, objects):
    """E207: the page does not grow with the objects, so nothing of one can stay."""
    start(site)
    objects.create_nginx("first", {"replicas": 1})
    wait_for("the Deployment", lambda: replicas(objects, "first-deploy") == 1)

    def series():
        return {line.rsplit(" ", 1)[0] for line in site.http("/metrics")[1].splitlines() if not line.startswith("#")}
    # A verb's durations are shown from its first request on: the Event's POST may come after the child.
    wait_for("each verb", lambda: all(site.metric("rest_client_requests_total", method=verb) > 0 for verb in ("GET", "PATCH", "POST")))
    before = series()
    for n in range(50):
        objects.create_nginx(f"many-{n}", {"replicas": 1})
    wait_for("all of them", lambda: site.operatord.workers()["nginx"]["objects"] == 51)
    for n in range(50):
        objects.kube.delete(objects.nginx(f"many-{n}"))
    wait_for("none of them", lambda: site.operatord.workers()["nginx"]["objects"] == 1)
    more = series() - before
    assert not any("many-" in line for line in more) and len(more) <= 12, more


def test_no_key_is_written_to_the_disk(site, objects, server, tmp_path):
    """E45: credentials that came as data stay in memory: no temporary file is made, none is needed."""
    document, base = load(server.kubeconfig)[0], os.path.dirname(server.kubeconfig)
    for entry, keys in ((document["clusters"][0]["cluster"], ["certificate-authority"]),
                        (document["users"][0]["user"], ["client-certificate", "client-key"])):
        for key in keys:
            if key in entry:
                with open(os.path.join(base, entry.pop(key)), "rb") as file:
                    entry[key + "-data"] = base64.b64encode(file.read()).decode()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    site.write(site.main(controllers_of("nginx")))
    site.start("nginx", kubeconfig=site.write(yaml.safe_dump(document), "inline.kubeconfig"), environment={"TMPDIR": str(temporary)})
    temporary.chmod(0o500)
    os.kill(site.pids()["nginx"], signal.SIGKILL)
    site.operatord.wait_live("nginx")
    objects.create_nginx("web", {"replicas": 1})
    wait_for("the Deployment", lambda: replicas(objects, "web-deploy") == 1)
    site.close()
    assert list(temporary.iterdir()) == []
