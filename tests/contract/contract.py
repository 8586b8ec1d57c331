"""The contract suite: what clients rely on, run unchanged against the development server and a real kube-apiserver.

Its server is the fixture of ../conftest.py. What the real server answers is right: a difference is fixed in the development server, or written down here as one.
"""

import time

import pytest

from kubeclient import ApiError

GROUP = "contract.example.com"
V1 = GROUP + "/v1"
SPEC = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer", "minimum": 0, "maximum": 10},
        "colour": {"type": "string", "enum": ["red", "green"]},
        "size": {"type": "string", "default": "medium"},
        "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
        "pair": {"type": "object", "required": ["left"], "properties": {"left": {"type": "string"},
                                                                       "right": {"type": "string", "default": "r"}}},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                  "items": {"type": "object", "required": ["name"],
                            "properties": {"name": {"type": "string"}, "count": {"type": "integer"},
                                           "note": {"type": "string"}}}},
        "list": {"type": "array", "items": {"type": "string"}},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "either": {"x-kubernetes-int-or-string": True},
        "maybe": {"type": "string", "nullable": True},
    },
}
STATUS = {"type": "object", "properties": {"state": {"type": "string"}, "count": {"type": "integer"}}}


def crd(plural, kind, status, scope="Namespaced", extra=None):
    version = {"name": "v1", "served": True, "storage": True,
               "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC, "status": STATUS}}},
               "additionalPrinterColumns": [
                   {"name": "Colour", "type": "string", "jsonPath": ".spec.colour"},
                   {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
                   {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]}
    if status:
        version["subresources"] = {"status": {}}
    version.update(extra or {})
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {"group": GROUP, "scope": scope, "versions": [version],
                     "names": {"plural": plural, "kind": kind}}}


CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def until(probe, seconds=20):
    """Polls until probe() is true; its value."""
    deadline = time.monotonic() + seconds
    while True:
        value = probe()
        if value:
            return value
        assert time.monotonic() < deadline, "not within the time"
        time.sleep(0.05)


def served(kube, path):
    try:
        kube.get(path)
        return True
    except ApiError as error:
        if error.status in (404, 429, 503):
            return False
        raise


@pytest.fixture(scope="session")
def kube(server):
    return server.kube


@pytest.fixture(scope="session", autouse=True)
def crds(kube):
    """widgets has the status subresource, plains has not."""
    for plural, kind, status in (("widgets", "Widget", True), ("plains", "Plain", False)):
        kube.create(CRDS, crd(plural, kind, status))
        until(lambda plural=plural: served(kube, f"/apis/{V1}/{plural}"))
    yield
    for plural in ("widgets", "plains"):
        kube.delete(f"{CRDS}/{plural}.{GROUP}")


class Namespace:
    """A namespace of its own for a test, and short ways to what is in it."""

    def __init__(self, kube, name):
        self.kube, self.name = kube, name

    def path(self, plural, name=None, sub=None):
        root = {"widgets": f"/apis/{V1}", "plains": f"/apis/{V1}", "deployments": "/apis/apps/v1",
                "leases": "/apis/coordination.k8s.io/v1"}.get(plural, "/api/v1")
        return f"{root}/namespaces/{self.name}/{plural}" + (f"/{name}" if name else "") + (f"/{sub}" if sub else "")

    def widget(self, name="w", spec=None, plural="widgets", **metadata):
        return self.kube.create(self.path(plural), widget(name, spec, plural, **metadata))

    def config_map(self, name, **metadata):
        return self.kube.create(self.path("configmaps"), {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": {"a": "1"}})


def widget(name="w", spec=None, plural="widgets", **metadata):
    kind = {"widgets": "Widget", "plains": "Plain"}[plural]
    body = {"apiVersion": V1, "kind": kind, "metadata": {"name": name, **metadata}}
    if spec is not None:
        body["spec"] = spec
    return body


def deployment(name="d", replicas=1, image="nginx:1.25", **metadata):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, **metadata},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": {"containers": [{"name": "main", "image": image,
                                                           "ports": [{"containerPort": 80}]}]}}}}


@pytest.fixture
def ns(kube):
    made = kube.create("/api/v1/namespaces", {"metadata": {"generateName": "contract-"}})
    yield Namespace(kube, made["metadata"]["name"])
    kube.delete("/api/v1/namespaces/" + made["metadata"]["name"])


def refused(status, call, *args, **kwargs):
    """The Status of a request that must fail with this code."""
    with pytest.raises(ApiError) as caught:
        call(*args, **kwargs)
    assert caught.value.status == status, str(caught.value)
    return caught.value.body
