"""packaging/kubernetes and operatorctl rbac: what they say is accepted by the server as it is, and operatord works with exactly the rights that it gives."""

import os
import subprocess

import pytest
import yaml

from kubeclient import Kube, load, path_of
from programs import wait_for
from sites import TOP, controllers_of

MANIFEST = f"{TOP}/packaging/kubernetes/operatord.yaml"


def kubeconfig_of_the_account(site, kubectl, namespace="operatord", name="operatord"):
    """The administrator's kubeconfig with the account's token in place of his credentials; the administrator's where no tokens are given out."""
    document, base = load(site.server.kubeconfig)[0], os.path.dirname(site.server.kubeconfig)
    cluster = document["clusters"][0]["cluster"]
    if "certificate-authority" in cluster:
        cluster["certificate-authority"] = os.path.join(base, cluster["certificate-authority"])
    if site.server.real:
        document["users"][0]["user"] = {"token": kubectl("create", "token", name, "-n", namespace).strip()}
    return site.write(yaml.safe_dump(document), "account.kubeconfig")


@pytest.fixture
def applied(kubectl, crds):
    """What kubectl said. A namespace that was deleted would stay for want of its controller, so all of this file is one test."""
    yield [kubectl("apply", "-f", MANIFEST) for _ in range(2)]
    kubectl("delete", "--wait=false", "--ignore-not-found", "-f", MANIFEST)


def test_taken_as_it_is_and_enough_to_work_with(site, kubectl, applied, objects):
    assert [text.count(word) for text, word in zip(applied, (" created", " unchanged"))] == [len(load(MANIFEST))] * 2, applied
    kubeconfig = kubeconfig_of_the_account(site, kubectl)
    config = next(document for document in load(MANIFEST) if document["kind"] == "ConfigMap")["data"]["operatord.yaml"]
    site.write(f"{config}\nhttp: {{listen: '127.0.0.1:{site.port}'}}\n")
    site.start("greeting", kubeconfig=kubeconfig)
    objects.create(objects.greeting(), "Greeting", "hello", spec={"audience": "cluster"})
    wait_for("Ready", lambda: objects.condition(objects.greeting("hello")).get("status") == "True")
    assert objects.kube.get(objects.configmap("hello"))["data"]["greeting"] == "Hello, cluster!"
    objects.kube.delete(objects.configmap("hello"))
    wait_for("the child again", lambda: objects.kube.get_or_none(objects.configmap("hello")))
    assert not any(word in site.operatord.log().lower() for word in ("forbidden", '"level":"error"')), site.operatord.tail()
    if site.server.real:
        review = Kube(kubeconfig).create(path_of("selfsubjectaccessreviews", "authorization.k8s.io/v1"), {
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {"verb": "get", "resource": "secrets", "namespace": site.namespace}}})
        assert not review["status"]["allowed"]


# --- operatorctl rbac ---

def granted(site, kubectl, controllers, **top):
    """Applies the rights that the command prints for this configuration; the account's kubeconfig, and what was printed."""
    site.write(site.main(controllers, **top))
    printed = run_ctl(site, "rbac", site.config, "--service-account", f"{site.namespace}/worker")
    site.server.kube.create(path_of("serviceaccounts", "v1", site.namespace),
                            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "worker"}})
    kubectl("apply", "-f", site.write(printed, "rbac.yaml"))
    return kubeconfig_of_the_account(site, kubectl, site.namespace, "worker"), printed


def run_ctl(site, *arguments):
    done = subprocess.run([os.path.join(site.build, "operatorctl"), *arguments], capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, "KUBECONFIG": site.server.kubeconfig})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def rights(site, kubectl):
    """Cluster-wide ones do not go with the namespace."""
    yield
    kubectl("delete", "--ignore-not-found", "-f", f"{site.directory}/rbac.yaml")


def test_printed_rights_name_their_places(site, kubectl, rights):
    _, printed = granted(site, kubectl, controllers_of("nginx"))
    documents = list(yaml.safe_load_all(printed))
    assert [document["kind"] for document in documents] == ["Role", "RoleBinding"]
    assert all(document["metadata"]["namespace"] == site.namespace for document in documents)
    assert f"# child deploy ({site.config}:" in printed
    assert {tuple(rule["resources"]) for rule in documents[0]["rules"]} == {("nginx",), ("nginx/status",), ("deployments",), ("events",)}


@pytest.mark.real_server  # RBAC
@pytest.mark.parametrize("everywhere", [False, True], ids=["namespaced", "all"])
def test_printed_rights_are_enough_and_needed(site, kubectl, objects, rights, everywhere):
    controllers = controllers_of("nginx")
    if everywhere:
        controllers[0].update(namespaces="all", selector=f"of={site.namespace}")  # not what other tests leave in namespaces that go
    kubeconfig, printed = granted(site, kubectl, controllers)
    site.start("nginx", kubeconfig=kubeconfig)
    objects.kube.create(objects.nginx(), {"apiVersion": "stable.underneathall.com/v1", "kind": "Nginx",
                                          "metadata": {"name": "web", "labels": {"of": site.namespace}}, "spec": {"replicas": 1}})
    wait_for("its child", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")))
    objects.kube.merge(objects.nginx("web"), {"spec": {"replicas": 2}})
    wait_for("the change", lambda: objects.kube.get(objects.deployment("web-deploy"))["spec"]["replicas"] == 2)
    objects.kube.delete(objects.deployment("web-deploy"))
    wait_for("the child again", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")))
    assert "forbidden" not in site.operatord.log().lower(), site.operatord.tail()
    less = printed.replace("verbs: [list, watch, create, patch, delete]", "verbs: [list, watch, create, delete]")
    assert less != printed
    kubectl("apply", "-f", site.write(less, "rbac.yaml"))

    def refused():
        objects.kube.merge(objects.nginx("web"), {"spec": {"replicas": objects.kube.get(objects.nginx("web"))["spec"]["replicas"] + 1}})
        return objects.condition(objects.nginx("web"))["reason"] == "Forbidden"
    wait_for("Forbidden", refused, seconds=30, pause=0.5)
    assert "deployments" in objects.condition(objects.nginx("web"))["message"]


@pytest.mark.real_server  # RBAC
def test_printed_rights_for_who_is_impersonated(site, kubectl, objects, rights):
    controllers = controllers_of("nginx")
    controllers[0]["impersonate"] = {"user": "jane doe", "groups": ["dev"], "extra": {"acme.io/team": ["web"]}}
    kubeconfig, _ = granted(site, kubectl, controllers)
    site.start("nginx", kubeconfig=kubeconfig)
    objects.create_nginx("web")
    wait_for("Ready or waiting for it", lambda: objects.condition(objects.nginx("web")).get("reason") in ("Succeeded", "WaitingForChild"))
