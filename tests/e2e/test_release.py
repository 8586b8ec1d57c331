"""operatorctl release: finalizers off, where no operatord will do it."""

import os
import subprocess

import pytest


def ctl(site, *arguments):
    return subprocess.run([os.path.join(site.build, "operatorctl"), "--kubeconfig", site.server.kubeconfig, *arguments],
                          capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL)


def with_finalizers(site, objects, name, *finalizers):
    return objects.kube.create(objects.greeting(), {"apiVersion": "demo.operator/v1", "kind": "Greeting",
                                                    "metadata": {"name": name, "finalizers": list(finalizers)}})


def finalizers_of(objects, name):
    return objects.kube.get(objects.greeting(name))["metadata"].get("finalizers", [])


@pytest.fixture
def held(site, objects):
    with_finalizers(site, objects, "a", "example.com/x", "operatord.io/edge.greeting", "operatord.io/other.greeting", "example.com/y")
    with_finalizers(site, objects, "b", "operatord.io/edge.greeting")
    with_finalizers(site, objects, "c", "operatord.iox/edge.greeting")
    yield
    for name in "abc":
        if objects.kube.get_or_none(objects.greeting(name)):
            objects.kube.merge(objects.greeting(name), {"metadata": {"finalizers": None}})


def test_release_says_what_it_would_do(site, objects, held):
    done = ctl(site, "release", "-n", site.namespace, "greetings.demo.operator", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"greetings.demo.operator {site.namespace}/a: would take off operatord.io/edge.greeting,operatord.io/other.greeting",
        f"greetings.demo.operator {site.namespace}/b: would take off operatord.io/edge.greeting"]
    unasked = ctl(site, "release", "-n", site.namespace, "greetings.demo.operator")
    assert unasked.returncode == 64 and unasked.stdout == done.stdout and "--yes" in unasked.stderr
    both = ctl(site, "release", "-n", site.namespace, "greetings.demo.operator", "--dry-run", "--yes")
    assert both.returncode == 0 and both.stdout == done.stdout
    assert len(finalizers_of(objects, "a")) == 4 and len(finalizers_of(objects, "b")) == 1


def test_release_takes_off_ours_alone(site, objects, held):
    done = ctl(site, "release", "-n", site.namespace, "greetings.demo.operator", "--yes", "--instance", "other")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"greetings.demo.operator {site.namespace}/a: took off operatord.io/other.greeting\n"
    objects.kube.delete(objects.greeting("b"))
    assert ctl(site, "release", "-n", site.namespace, "greetings.demo.operator", "--yes").returncode == 0
    assert finalizers_of(objects, "a") == ["example.com/x", "example.com/y"]
    assert finalizers_of(objects, "c") == ["operatord.iox/edge.greeting"]
    assert objects.kube.get_or_none(objects.greeting("b")) is None
    again = ctl(site, "release", "-n", site.namespace, "greetings.demo.operator", "--yes")
    assert again.returncode == 0 and again.stdout == "no object has a finalizer operatord.io/...\n"


def test_release_by_name_and_over_all_namespaces(site, objects, held):
    done = ctl(site, "release", "-n", site.namespace, "greetings.demo.operator", "b", "nobody", "--yes")
    assert done.returncode == 1 and "nobody" in done.stderr
    assert finalizers_of(objects, "b") == [] and len(finalizers_of(objects, "a")) == 4
    assert ctl(site, "release", "-A", "greetings.demo.operator", "b").returncode == 64
    assert ctl(site, "release").returncode == 64
    assert ctl(site, "release", "-A", "greetings.demo.operator", "--yes").returncode == 0
    assert finalizers_of(objects, "a") == ["example.com/x", "example.com/y"]
