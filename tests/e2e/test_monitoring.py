"""What people and machines see of it: log lines and Events, secrets that are not in them, a log that nobody takes, counters that never fall."""

import base64
import json
import os
import re
import shutil
import signal
import subprocess

from kubeclient import MERGE, path_of
from programs import wait_for
from sites import controllers_of

SECRET = "correct-horse-battery-staple"


def lines_of(text):
    """Each line as an object: one that is not fails the test (E217)."""
    return [json.loads(line) for line in text.splitlines()]


def events_of(objects, name):
    items = objects.kube.items(path_of("events", "events.k8s.io/v1", objects.namespace))
    return [event for event in items if event["regarding"]["name"] == name]


# --- lines ---


def test_a_line_says_what_it_is_about_and_its_event_the_same(site, objects):
    site.write(site.main(controllers_of("nginx")))
    site.start("nginx")
    objects.create_nginx("web", {"replicas": 1})
    event = wait_for("the Event", lambda: next((e for e in events_of(objects, "web") if e["reason"] == "Created"), None))
    ident = event["metadata"]["annotations"]["operatord.io/reconcile-id"]
    line = wait_for("its line", lambda: next((each for each in lines_of(site.operatord.log()) if each.get("reconcileID") == ident), None))
    assert {"controller": "nginx", "namespace": objects.namespace, "name": "web", "generation": "1", "reason": "added",
            "level": "info"}.items() <= line.items(), line
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
    assert all({"time", "level", "msg"} <= each.keys() for each in lines_of(site.operatord.log()))


def test_the_same_again_and_again_is_summed_up(site, objects):
    """Two managers that fight for one field: what would be a line each time is a few, and their number."""
    site.write(site.main(controllers_of("greeting"), log={"level": "info", "format": "json"}))
    site.start("greeting")
    objects.create(objects.greeting(), "Greeting", "web", spec={"audience": "0"})
    for i in range(1, 31):
        objects.kube.merge(objects.greeting("web"), {"spec": {"audience": str(i)}})
        wait_for("the change", lambda i=i: objects.kube.get(objects.configmap("web"))["data"]["greeting"] == f"Hello, {i}!")
    held = wait_for("a heartbeat", lambda: site.metric("operatord_log_lines_repeated_total", controller="greeting"))
    assert site.operatord.stop() == 0
    lines = lines_of(site.operatord.log())
    assert len([each for each in lines if each["msg"] == "reconciled"]) == 5
    sums = [each for each in lines if "repeated" in each]
    assert len(sums) == 1 and int(sums[0]["repeated"]) >= max(held, 20) and sums[0]["name"] == "web", sums


# --- secrets ---


def test_secrets_of_a_child_are_in_no_line(site, objects):
    """E213: whatever goes wrong with a Secret, at the most talkative level."""
    site.write(site.main([{
        "name": "greeting", "resource": "greetings.v1.demo.operator",
        "children": [{"id": "s", "template": {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "${.metadata.name}"},
            "stringData": {"password": "${.spec.audience}"}, "data": {"other": "${get(.spec.greeting; \"AAAA\")}"},
            "type": "${get(.metadata.annotations.type; \"Opaque\")}"}}]}]))
    site.start("greeting")
    objects.create(objects.greeting(), "Greeting", "good", spec={"audience": SECRET})
    wait_for("the Secret", lambda: objects.kube.get_or_none(objects.path("secrets", "v1", "good")))
    objects.kube.request("PATCH", objects.greeting("good"), {"metadata": {"annotations": {"type": "example.com/other"}}}, MERGE)
    objects.create(objects.greeting(), "Greeting", "bad", spec={"audience": SECRET, "greeting": "!" + SECRET})
    wait_for("a refusal", lambda: objects.condition(objects.greeting("bad")).get("status") == "False")
    text = site.operatord.log()
    for form in (SECRET, base64.b64encode(SECRET.encode()).decode()):
        assert form not in text
        assert form not in json.dumps(objects.condition(objects.greeting("bad")))
        assert form not in json.dumps(objects.condition(objects.greeting("good")))
        assert form not in json.dumps(objects.kube.items(path_of("events", "events.k8s.io/v1", objects.namespace)))


# --- who takes the lines ---


def work(objects, first, last):
    for i in range(first, last):
        objects.create(objects.greeting(), "Greeting", f"g{i}", spec={"audience": "x"})
    wait_for("the last", lambda: objects.kube.get_or_none(objects.configmap(f"g{last - 1}")))


def test_a_log_that_nobody_reads(site, objects):
    """E215: neither workers nor supervisor wait for it; what was lost is counted and told."""
    site.write(site.main(controllers_of("greeting")))
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 4095 + b"\n")
    except BlockingIOError:
        os.set_blocking(writer, True)
    site.start("greeting", stderr=writer)
    work(objects, 0, 30)
    lost = wait_for("lost lines", lambda: site.metric("operatord_log_lines_dropped_total", controller="greeting"))
    assert site.metric("operatord_supervisor_log_lines_dropped_total") > 0
    assert site.http("/readyz")[0] == 200
    os.close(writer)
    os.set_blocking(reader, False)
    seen = b""

    def told():
        nonlocal seen
        objects.kube.merge(objects.greeting("g0"), {"spec": {"audience": os.urandom(4).hex()}})
        try:
            seen += os.read(reader, 1 << 16)
        except BlockingIOError:
            pass
        found = [json.loads(line) for line in seen.decode().splitlines()[:-1] if line.startswith("{") and '"lost"' in line]
        return next((each for each in found if each.get("controller") == "greeting"), None)
    assert int(wait_for("a line that tells", told)["lost"]) >= lost
    os.close(reader)
    wait_for("the supervisor, whose log has no reader", lambda: site.http("/livez")[0] == 200)
    work(objects, 30, 40)


def test_a_full_disk(site, objects):
    site.write(site.main(controllers_of("greeting")))
    with open("/dev/full", "wb") as full:
        site.start("greeting", stderr=full)
    work(objects, 0, 5)
    wait_for("lost lines", lambda: site.metric("operatord_log_lines_dropped_total", controller="greeting"))


def test_no_stderr_at_all(site, objects):
    site.write(site.main(controllers_of("greeting")))
    program = os.path.join(site.directory, "without-stderr")
    with open(program, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {site.build}/operatord "$@" 2>&-\n')
    os.chmod(program, 0o755)
    control = os.path.join(site.directory, "operatord.sock")
    process = subprocess.Popen([program, "-c", site.config, "--control", control], stdin=subprocess.DEVNULL,
                               env={"PATH": "/usr/bin:/bin", "KUBECONFIG": site.server.kubeconfig})
    try:
        wait_for("live", lambda: site.http("/readyz")[0] == 200)
        work(objects, 0, 5)
    finally:
        process.terminate()
        assert process.wait(20) == 0


# --- numbers ---


def counters(text):
    """{series: value} of what must not fall."""
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        series, value = line.rsplit(" ", 1)
        family = re.sub(r"(_bucket|_sum|_count)$", "", series.split("{")[0])
        if types.get(family) == "histogram" or types.get(series.split("{")[0]) == "counter":
            found[series] = float(value)
    return found


def test_counters_never_fall_while_workers_die(site, objects):
    site.write(site.main(controllers_of("greeting") + controllers_of("nginx")))
    site.start("greeting", "nginx")
    before = counters(site.http("/metrics")[1])
    assert len(before) > 100
    for i in range(6):
        work(objects, 3 * i, 3 * i + 3)
        os.kill(site.pids()["greeting"] or site.operatord.pid, signal.SIGKILL if site.pids()["greeting"] else 0)
        for _ in range(10):
            now = counters(site.http("/metrics")[1])
            fell = {series: (value, now.get(series)) for series, value in before.items() if now.get(series, -1) < value}
            assert not fell
            before = now
        site.operatord.ctl("reload")
        site.operatord.wait_live("greeting")
    assert before['operatord_worker_restarts_total{controller="greeting",reason="killed"}'] >= 5
    assert before['operatord_lists_total{controller="greeting"}'] >= 6


def test_names_with_quotes_do_not_spoil_the_page(site):
    """E199, E201: the one name on the page that people choose freely is a file's."""
    site.write(site.main(controllers_of("greeting")))
    site.drop('a"b\\c.yaml', [])
    site.start("greeting")
    text = site.http("/metrics")[1]
    assert 'conf.d/a\\"b\\\\c.yaml"} 1' in text
    promtool = shutil.which("promtool")
    assert promtool, "promtool is among the packages that scripts/test installs"
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_worker_by_name(site, objects):
    """E209: a worker that stands still is named by its own page and by that of all."""
    site.write(site.main(controllers_of("greeting") + controllers_of("nginx"), heartbeat="200ms"))
    site.start("greeting", "nginx")
    for name in ("greeting", "nginx"):
        assert site.http(f"/healthz/{name}")[0] == 200 and site.http(f"/readyz/{name}")[0] == 200
    assert site.http("/healthz/none")[0] == 404
    os.kill(site.pids()["nginx"], signal.SIGSTOP)
    status, text, _ = wait_for("503", lambda: (lambda answer: answer if answer[0] == 503 else None)(site.http("/readyz")), pause=0.005)
    assert "nginx" in text and "greeting" not in text
    assert site.http("/healthz/greeting")[0] == 200
    site.operatord.wait_live("nginx")
