"""A version is any label: Kubernetes serves more than v1."""

from kubeclient import path_of
from programs import wait_for
from sites import serve_crd

GROUP = "versions.example.com"
CRD = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"memos.{GROUP}"},
       "spec": {"group": GROUP, "scope": "Namespaced", "names": {"plural": "memos", "singular": "memo", "kind": "Memo"},
                "versions": [{"name": "stable-2", "served": True, "storage": True, "subresources": {"status": {}},
                              "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


def test_a_version_that_is_no_v1(site, server, objects, namespace):
    serve_crd(server.kube, CRD)
    site.write(site.main([{"name": "memo", "resource": f"memos.stable-2.{GROUP}", "children": [
        {"id": "text", "template": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "${.metadata.name}"},
                                    "data": {"text": "${.spec.text}"}}}]}]))
    site.start("memo")
    server.kube.create(path_of("memos", f"{GROUP}/stable-2", namespace),
                       {"apiVersion": f"{GROUP}/stable-2", "kind": "Memo", "metadata": {"name": "one"}, "spec": {"text": "hello"}})
    child = wait_for("the ConfigMap", lambda: objects.kube.get_or_none(objects.configmap("one")))
    assert child["data"] == {"text": "hello"}
    assert child["metadata"]["ownerReferences"][0]["apiVersion"] == f"{GROUP}/stable-2"
    assert "one" in site.operatord.ctl("list", f"memos.stable-2.{GROUP}", "-n", namespace)
