"""An object that ends its worker does not take the rest of its kind with it."""

import os
import signal

from programs import wait_for
from sites import controllers_of

# The search for one list in another, in C: 50 000 times 50 000 comparisons, which no time limit of jq can end.
ZEROS = "[" + ",".join(["0"] * 100000) + "]"
REPLICAS = """${(.metadata.annotations.zeros // "") as $text | if $text == "" then .spec.replicas
 else ($text | fromjson as $z | $z | indices($z[:50000]) | length) end}"""


def controllers():
    found = controllers_of("nginx")
    found[0]["children"][0]["template"]["spec"]["replicas"] = REPLICAS.replace("\n", "")
    return found


def create_stuck(objects):
    return objects.kube.create(objects.nginx(), {"apiVersion": "stable.underneathall.com/v1", "kind": "Nginx", "metadata": {
        "name": "stuck", "annotations": {"zeros": ZEROS}}, "spec": {"replicas": 1}})


def replicas(objects, name):
    found = objects.kube.get_or_none(objects.deployment(name))
    return None if found is None else found["spec"]["replicas"]


def quarantined(site):
    return [entry["object"] for entry in site.operatord.workers()["nginx"]["quarantined"]]


def ready(objects, name, reason):
    condition = objects.condition(objects.nginx(name))
    return condition if condition.get("reason") == reason else None


def test_an_object_that_hangs_its_worker(site, objects):
    site.write(site.main(controllers(), heartbeat="200ms"))
    site.start("nginx")
    objects.create_nginx("fine", {"replicas": 1})
    wait_for("the fine one", lambda: replicas(objects, "fine-deploy") == 1)
    create_stuck(objects)
    condition = wait_for("quarantine", lambda: ready(objects, "stuck", "Quarantined"), seconds=60)
    assert condition["status"] == "False" and "hung" in condition["message"]
    assert objects.condition(objects.nginx("stuck"), "Stalled")["status"] == "True"
    assert quarantined(site) == [f"{objects.namespace}/stuck"]
    assert site.metric("operatord_quarantined_objects", controller="nginx") == 1
    event = wait_for("its Event", lambda: [e for e in objects.kube.items(objects.path("events", "events.k8s.io/v1"))
                                           if e["reason"] == "Quarantined"])[0]
    assert event["regarding"]["name"] == "stuck" and event["type"] == "Warning"

    # The others go on, with the worker that lives.
    site.operatord.wait_live("nginx")
    pid = site.pids()["nginx"]
    shown = site.operatord.ctl("status", "nginx")
    assert f"{objects.namespace}/stuck" in shown and "hung, killed by SIGABRT" in shown and "Quarantined objects" in shown
    assert "1 object quarantined" in site.http("/healthz?verbose")[1]
    objects.create_nginx("later", {"replicas": 2})
    objects.kube.merge(objects.nginx("fine"), {"spec": {"replicas": 3}})
    wait_for("both", lambda: replicas(objects, "later-deploy") == 2 and replicas(objects, "fine-deploy") == 3)
    assert site.pids()["nginx"] == pid

    # A changed spec is tried at once, and the object is off the list.
    objects.kube.merge(objects.nginx("stuck"), {"metadata": {"annotations": {"zeros": None}}, "spec": {"replicas": 4}})
    wait_for("the Deployment", lambda: replicas(objects, "stuck-deploy") == 4)
    wait_for("Ready", lambda: objects.condition(objects.nginx("stuck")).get("status") == "True")
    wait_for("off the list", lambda: quarantined(site) == [])
    assert site.pids()["nginx"] == pid


def test_an_object_at_which_the_worker_is_killed(site, objects):
    """It crashes twice at work on it; the third worker leaves it alone, and one that was killed at rest accuses nobody."""
    site.write(site.main(controllers(), heartbeat="10s"))
    site.start("nginx")
    objects.create_nginx("fine", {"replicas": 1})
    wait_for("the fine one", lambda: replicas(objects, "fine-deploy") == 1)
    pid = site.pids()["nginx"]
    os.kill(pid, signal.SIGKILL)
    wait_for("another worker", lambda: site.pids()["nginx"] not in (0, pid))
    site.operatord.wait_live("nginx")
    assert quarantined(site) == []
    create_stuck(objects)
    for _ in range(2):
        worker = wait_for("a worker at work on it", lambda: (lambda w: w if w["busy"].endswith("/stuck") and w["pid"] else None)(
            site.operatord.workers()["nginx"]))
        os.kill(worker["pid"], signal.SIGSEGV)
        wait_for("its end", lambda: site.pids()["nginx"] != worker["pid"])
    wait_for("quarantine", lambda: ready(objects, "stuck", "Quarantined"))
    assert quarantined(site) == [f"{objects.namespace}/stuck"]
    objects.create_nginx("later", {"replicas": 2})
    wait_for("the later one", lambda: replicas(objects, "later-deploy") == 2)

    # A new configuration may do better: the list begins anew.
    site.write(site.main(controllers_of("nginx"), heartbeat="10s"))
    site.operatord.ctl("reload")
    wait_for("its Deployment", lambda: replicas(objects, "stuck-deploy") == 1)
    assert quarantined(site) == []


def with_when(expression, **settings):
    """The nginx example, whose child depends on an expression that asks for trouble where an object has the annotation."""
    found = controllers_of("nginx")
    found[0].update(settings)
    found[0]["children"][0]["when"] = "${if .metadata.annotations.trouble then (%s) else true end}" % expression
    return found


def create_trouble(objects, name):
    return objects.kube.create(objects.nginx(), {"apiVersion": "stable.underneathall.com/v1", "kind": "Nginx", "metadata": {
        "name": name, "annotations": {"trouble": "yes"}}, "spec": {"replicas": 1}})


def test_an_object_that_crashes_its_worker(site, objects):
    """A value nested so deep that libjq's own recursion ends at the end of the stack: SIGSEGV, and no time limit helps."""
    site.write(site.main(with_when("[reduce range(1000000) as $i (null; [.])] | length > 0", renderTimeout="10s"), heartbeat="30s"))
    site.start("nginx")
    create_trouble(objects, "deep")
    wait_for("quarantine", lambda: ready(objects, "deep", "Quarantined"), seconds=60)
    deaths = site.operatord.workers()["nginx"]["deaths"]
    assert [death["reason"] for death in deaths] == ["killed", "killed"]
    assert all(death["signal"] in (signal.SIGSEGV, signal.SIGABRT) and death["busy"].endswith("/deep") for death in deaths)
    assert "(2nd death within 300 s): restarting in " in site.operatord.log()
    objects.create_nginx("fine", {"replicas": 2})
    wait_for("the fine one", lambda: replicas(objects, "fine-deploy") == 2)

    # Another worker is told of it, too, and writes nothing more about it.
    pid = site.pids()["nginx"]
    version = objects.kube.get(objects.nginx("deep"))["metadata"]["resourceVersion"]
    os.kill(pid, signal.SIGKILL)
    wait_for("another worker", lambda: site.pids()["nginx"] not in (0, pid), seconds=30)
    site.operatord.wait_live("nginx")
    objects.create_nginx("later", {"replicas": 3})
    wait_for("the later one", lambda: replicas(objects, "later-deploy") == 3)
    assert quarantined(site) == [f"{objects.namespace}/deep"]
    assert objects.kube.get(objects.nginx("deep"))["metadata"]["resourceVersion"] == version

    # Deleted, it is forgotten.
    objects.kube.delete(objects.nginx("deep"))
    wait_for("off the list", lambda: quarantined(site) == [])


def test_an_expression_without_end_is_a_failed_render(site, objects):
    """The time limit ends what libjq runs instruction by instruction: a condition, no death."""
    site.write(site.main(with_when("[repeat(1)] | length > 0")))
    site.start("nginx")
    pid = site.pids()["nginx"]
    create_trouble(objects, "endless")
    condition = wait_for("the condition", lambda: ready(objects, "endless", "RenderFailed"))
    assert condition["status"] == "False"
    objects.create_nginx("fine", {"replicas": 2})
    wait_for("the fine one", lambda: replicas(objects, "fine-deploy") == 2)
    assert site.pids()["nginx"] == pid and quarantined(site) == []
