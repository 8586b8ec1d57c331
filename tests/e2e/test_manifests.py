"""packaging/kubernetes: what is there is accepted by the server as it is, and operatord works with exactly the rights that it gives."""

import os

import pytest
import yaml

from kubeclient import Kube, load, path_of
from programs import wait_for
from sites import TOP

MANIFEST = f"{TOP}/packaging/kubernetes/operatord.yaml"


def kubeconfig_of_the_account(site, kubectl):
    """The administrator's kubeconfig with the account's token in place of his credentials; the administrator's where no tokens are given out."""
    document, base = load(site.server.kubeconfig)[0], os.path.dirname(site.server.kubeconfig)
    cluster = document["clusters"][0]["cluster"]
    if "certificate-authority" in cluster:
        cluster["certificate-authority"] = os.path.join(base, cluster["certificate-authority"])
    if site.server.real:
        document["users"][0]["user"] = {"token": kubectl("create", "token", "operatord", "-n", "operatord").strip()}
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
