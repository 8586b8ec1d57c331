"""Discovery, who may what, health, reviews."""

import copy

from contract import GROUP, V1, refused


def resources(listed):
    return {r["name"]: r for r in listed["resources"]}


def test_api_groups(kube):
    assert kube.get("/api")["versions"] == ["v1"]
    groups = {g["name"]: g for g in kube.get("/apis")["groups"]}
    assert {"apps", "apiextensions.k8s.io", "coordination.k8s.io", "events.k8s.io", GROUP} <= set(groups)
    assert groups[GROUP]["preferredVersion"] == {"groupVersion": V1, "version": "v1"}
    one = kube.get("/apis/" + GROUP)
    assert one["kind"] == "APIGroup" and one["versions"] == [{"groupVersion": V1, "version": "v1"}]


def test_resource_lists(kube):
    core = resources(kube.get("/api/v1"))
    assert core["configmaps"]["namespaced"] and not core["namespaces"]["namespaced"]
    assert core["configmaps"]["shortNames"] == ["cm"] and "watch" in core["configmaps"]["verbs"]
    apps = resources(kube.get("/apis/apps/v1"))
    assert apps["deployments"]["kind"] == "Deployment" and "deployments/status" in apps and "deployments/scale" in apps
    custom = resources(kube.get("/apis/" + V1))
    assert custom["widgets"]["kind"] == "Widget" and custom["widgets"]["singularName"] == "widget"
    assert "widgets/status" in custom and "plains/status" not in custom
    assert set(custom["widgets"]["verbs"]) == {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}


def test_aggregated_discovery(kube):
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    listed = kube.request("GET", "/apis", accept=accept)
    assert listed["kind"] == "APIGroupDiscoveryList" and listed["apiVersion"] == "apidiscovery.k8s.io/v2"
    group = [g for g in listed["items"] if g["metadata"]["name"] == GROUP][0]
    widgets = [r for r in group["versions"][0]["resources"] if r["resource"] == "widgets"][0]
    assert widgets["scope"] == "Namespaced" and widgets["responseKind"] == {"group": GROUP, "version": "v1", "kind": "Widget"}
    assert [s["subresource"] for s in widgets["subresources"]] == ["status"]


def test_version_and_health(kube):
    assert kube.get("/version")["major"] == "1"
    for path in ("/livez", "/readyz", "/healthz"):
        assert kube.get(path) == "ok"


def test_openapi_names_field_validation(kube):
    paths = kube.get("/openapi/v3")["paths"]
    document = kube.get(paths["apis/" + V1]["serverRelativeURL"])
    patch = document["paths"][f"/apis/{V1}/namespaces/{{namespace}}/widgets/{{name}}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"] == {"group": GROUP, "version": "v1", "kind": "Widget"}
    assert "fieldValidation" in [p.get("name") for p in patch["parameters"]]


def test_bad_token_is_401(kube):
    other = copy.copy(kube)
    other.token = "rubbish"
    status = refused(401, other.get, "/api/v1/namespaces")
    assert status["reason"] == "Unauthorized" and status["message"] == "Unauthorized"


def test_access_review(kube):
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
              "spec": {"resourceAttributes": {"verb": "list", "resource": "configmaps"}}}
    made = kube.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    assert made["status"]["allowed"] is True and made["kind"] == "SelfSubjectAccessReview"


def test_default_namespaces(kube):
    assert kube.get("/api/v1/namespaces/default")["status"]["phase"] == "Active"
    assert kube.get("/api/v1/namespaces/kube-system")["metadata"]["labels"] == {"kubernetes.io/metadata.name": "kube-system"}


def test_method_not_allowed(kube):
    status = refused(405, kube.request, "PUT", "/api/v1/namespaces", {})
    assert status["reason"] == "MethodNotAllowed"


def test_body_limit(kube):
    body = {"metadata": {"name": "big"}, "data": {"x": "y" * (3 * 1024 * 1024 + 100)}}
    status = refused(413, kube.create, "/api/v1/namespaces/default/configmaps", body)
    assert "limit is 3145728" in str(status)
