"""Reload: what changed is replaced, the rest keeps its pid; a bad file changes nothing of what runs."""

import os
import signal

from sites import controllers_of
from programs import wait_for


def start_two(site):
    site.write(site.main(controllers_of("nginx") + controllers_of("uuid")))
    return site.start("nginx", "uuid")


def test_a_dropped_file_adds_a_worker(site, objects):
    start_two(site)
    before = site.pids()
    site.drop("greeting.yaml", controllers_of("greeting"))
    assert "greeting" in site.operatord.ctl("reload")
    site.operatord.wait_live("nginx", "uuid", "greeting")
    assert {name: site.pids()[name] for name in before} == before
    objects.create(objects.greeting(), "Greeting", "hi", spec={"greeting": "Hello", "audience": "you"})
    text = wait_for("the ConfigMap", lambda: objects.kube.get_or_none(objects.configmap("hi")))
    assert text["data"] == {"greeting": "Hello, you!"}


def test_sighup_does_the_same_and_removing_the_file_ends_the_worker(site):
    start_two(site)
    path = site.drop("greeting.yaml", controllers_of("greeting"))
    site.operatord.signal(signal.SIGHUP)
    site.operatord.wait_live("nginx", "uuid", "greeting")
    before = site.pids()
    os.unlink(path)
    site.operatord.ctl("reload")
    wait_for("no greeting worker", lambda: "greeting" not in site.pids())
    wait_for("its process gone", lambda: not os.path.exists(f"/proc/{before['greeting']}"))
    assert site.pids() == {name: pid for name, pid in before.items() if name != "greeting"}


def test_only_the_changed_one_is_replaced(site):
    start_two(site)
    before = site.pids()
    controllers = controllers_of("nginx") + controllers_of("uuid")
    controllers[1]["resync"] = "9h"
    site.write(site.main(controllers))
    site.operatord.ctl("reload")
    wait_for("uuid replaced", lambda: site.pids()["uuid"] not in (before["uuid"], 0))
    site.operatord.wait_live("nginx", "uuid")
    assert site.pids()["nginx"] == before["nginx"]
    assert not os.path.exists(f"/proc/{before['uuid']}")


def test_a_reload_of_the_same_changes_nothing(site):
    start_two(site)
    before = site.pids()
    site.write("# a comment more\n" + open(site.config, encoding="utf-8").read())
    site.operatord.ctl("reload")
    assert site.pids() == before


def test_a_broken_main_file_changes_nothing(site):
    start_two(site)
    before = site.pids()
    site.write("version: 1\ncontrollers:\n- name: nginx\n  resouce: nginx.v1.stable.underneathall.com\n  replicas: 3\n")
    refused = site.operatord.ctl("reload", check=False)
    assert refused.returncode == 78
    assert "operatord.yaml:4:" in refused.stderr and "resource" in refused.stderr, refused.stderr
    assert "operatord.yaml:5:" in refused.stderr, "every error, not the first alone"
    assert site.pids() == before
    assert site.metric("operatord_config_last_reload_successful") == 0
    site.write(site.main(controllers_of("nginx") + controllers_of("uuid")))
    site.operatord.ctl("reload")
    assert site.metric("operatord_config_last_reload_successful") == 1
    assert site.pids() == before


def test_a_broken_conf_d_file_leaves_the_others_and_its_own(site):
    site.write(site.main(controllers_of("nginx")))
    site.drop("greeting.yaml", controllers_of("greeting"))
    site.start("nginx", "greeting")
    before = site.pids()
    site.write("version: 1\ncontrollers: [{name: greeting, resource: 7}]\n", "conf.d/greeting.yaml")
    refused = site.operatord.ctl("reload", check=False)
    assert refused.returncode != 0 and "greeting.yaml" in refused.stderr
    assert site.pids() == before
    assert site.metric("operatord_config_file_valid") == 1, "one of two files is valid"


def test_a_broken_conf_d_file_at_the_start(site):
    site.write(site.main(controllers_of("nginx")))
    site.write("version: 1\ncontrollers: [{name: greeting, resource: 7}]\n", "conf.d/greeting.yaml")
    site.start("nginx")
    assert site.operatord.workers()["greeting"]["state"] == "config-invalid"
    status, text, _ = site.http("/readyz")
    assert status == 503 and "greeting" in text and "config-invalid" in text


def test_strict_start_refuses_a_broken_conf_d_file(site):
    site.write(site.main(controllers_of("nginx"), strictStart=True))
    site.write("version: 1\ncontrollers: [{name: greeting, resource: 7}]\n", "conf.d/greeting.yaml")
    site.start()
    assert site.operatord.wait() == 78


def test_reload_auto_follows_the_files(site, objects):
    """Nobody asks: a dropped file adds its worker, a bad one is refused and shown, and the rest keeps its pids."""
    site.write(site.main(controllers_of("nginx"), reload="auto"))
    site.start("nginx")
    before = site.pids()
    path = site.drop("greeting.yaml", controllers_of("greeting"))
    site.operatord.wait_live("nginx", "greeting")
    site.write("version: 1\ncontrollers: [{name: greeting, resource: 7}]\n", "conf.d/greeting.yaml")
    wait_for("the refusal", lambda: site.metric("operatord_config_last_reload_successful") == 0)
    assert site.operatord.workers()["greeting"]["state"] == "live"
    os.unlink(path)
    wait_for("no greeting worker", lambda: "greeting" not in site.pids())
    assert site.pids() == before
    assert site.metric("operatord_config_last_reload_successful") == 1
