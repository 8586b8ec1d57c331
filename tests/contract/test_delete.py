"""Deletion: finalizers, preconditions, propagation, garbage collection, namespaces, CRDs."""

from contract import CRDS, GROUP, V1, crd, refused, served, until, widget


def gone(ns, plural, name):
    return lambda: ns.kube.get_or_none(ns.path(plural, name)) is None


def test_delete_answers_status(ns):
    made = ns.widget("a")
    answer = ns.kube.delete(ns.path("widgets", "a"))
    assert answer["kind"] == "Status" and answer["status"] == "Success"
    assert answer["details"] == {"name": "a", "group": GROUP, "kind": "widgets", "uid": made["metadata"]["uid"]}
    assert refused(404, ns.kube.delete, ns.path("widgets", "a"))["reason"] == "NotFound"


def test_finalizer_holds(ns):
    ns.widget("a", {"replicas": 1}, finalizers=["example.com/f"])
    path = ns.path("widgets", "a")
    answer = ns.kube.delete(path)
    assert answer["kind"] == "Widget" and answer["metadata"]["deletionTimestamp"]
    assert answer["metadata"]["deletionGracePeriodSeconds"] == 0 and answer["metadata"]["generation"] == 2
    again = ns.kube.delete(path)
    assert again["metadata"]["resourceVersion"] == answer["metadata"]["resourceVersion"]
    status = refused(422, ns.kube.merge, path, {"metadata": {"finalizers": ["example.com/f", "example.com/g"]}})
    assert "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted" in status["message"]
    last = ns.kube.merge(path, {"metadata": {"finalizers": None}})
    assert last["metadata"]["name"] == "a"
    refused(404, ns.kube.get, path)


def test_preconditions(ns):
    made = ns.widget("a")
    path = ns.path("widgets", "a")
    status = refused(409, ns.kube.delete, path, {"preconditions": {"uid": "00000000-0000-4000-8000-000000000000"}})
    assert status["reason"] == "Conflict" and "does not match the UID in record (" in status["message"]
    refused(409, ns.kube.delete, path, {"preconditions": {"resourceVersion": "1"}})
    ns.kube.delete(path, {"preconditions": {"uid": made["metadata"]["uid"],
                                            "resourceVersion": made["metadata"]["resourceVersion"]}})
    refused(404, ns.kube.get, path)


def owner_of(made, block=False):
    return {"apiVersion": made["apiVersion"], "kind": made["kind"], "name": made["metadata"]["name"],
            "uid": made["metadata"]["uid"], "blockOwnerDeletion": block}


def test_background_collection(ns):
    owner = ns.widget("owner")
    ns.config_map("child", ownerReferences=[owner_of(owner)])
    ns.kube.delete(ns.path("widgets", "owner"))
    until(gone(ns, "configmaps", "child"))


def test_foreground_deletion_waits(ns):
    owner = ns.widget("owner")
    ns.config_map("child", ownerReferences=[owner_of(owner, True)], finalizers=["example.com/f"])
    ns.kube.delete(ns.path("widgets", "owner"), {"propagationPolicy": "Foreground"})
    until(lambda: "deletionTimestamp" in ns.kube.get(ns.path("configmaps", "child"))["metadata"])
    waiting = ns.kube.get(ns.path("widgets", "owner"))
    assert waiting["metadata"]["finalizers"] == ["foregroundDeletion"]
    ns.kube.merge(ns.path("configmaps", "child"), {"metadata": {"finalizers": None}})
    until(gone(ns, "widgets", "owner"))


def test_orphans_stay(ns):
    owner = ns.widget("owner")
    ns.config_map("child", ownerReferences=[owner_of(owner)])
    ns.kube.delete(ns.path("widgets", "owner"), {"propagationPolicy": "Orphan"})
    until(gone(ns, "widgets", "owner"))
    until(lambda: "ownerReferences" not in ns.kube.get(ns.path("configmaps", "child"))["metadata"])


def test_second_owner_keeps_the_child(ns):
    one, two = ns.widget("one"), ns.widget("two")
    ns.config_map("child", ownerReferences=[owner_of(one), owner_of(two)])
    ns.kube.delete(ns.path("widgets", "one"))
    until(lambda: len(ns.kube.get(ns.path("configmaps", "child"))["metadata"]["ownerReferences"]) == 1)
    ns.kube.delete(ns.path("widgets", "two"))
    until(gone(ns, "configmaps", "child"))


def test_absent_owner_collects_the_child(ns):
    owner = ns.widget("owner")
    wrong = dict(owner_of(owner), uid="00000000-0000-4000-8000-000000000000")
    ns.config_map("child", ownerReferences=[wrong])
    until(gone(ns, "configmaps", "child"))


def test_delete_collection(ns):
    ns.widget("a", labels={"x": "1"})
    ns.widget("b")
    ns.kube.delete(ns.path("widgets") + "?labelSelector=x%3D1")
    until(lambda: [w["metadata"]["name"] for w in ns.kube.items(ns.path("widgets"))] == ["b"])


def test_namespace_goes_with_its_content(kube):
    name = kube.create("/api/v1/namespaces", {"metadata": {"generateName": "contract-"}})["metadata"]["name"]
    path = f"/apis/{V1}/namespaces/{name}/widgets"
    kube.create(path, widget("w", finalizers=["example.com/f"]))
    kube.delete(f"/api/v1/namespaces/{name}")
    assert kube.get(f"/api/v1/namespaces/{name}")["status"]["phase"] == "Terminating"
    status = refused(403, kube.create, path, widget("late"))
    assert status["reason"] == "Forbidden" and status["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    until(lambda: "deletionTimestamp" in kube.get(path + "/w")["metadata"])
    kube.merge(path + "/w", {"metadata": {"finalizers": None}})
    until(lambda: kube.get_or_none(f"/api/v1/namespaces/{name}") is None)


def test_crd_comes_and_goes(kube, ns):
    body = crd("gadgets", "Gadget", True)
    made = kube.create(CRDS, body)
    assert made["spec"]["names"] == {"plural": "gadgets", "kind": "Gadget", "singular": "gadget", "listKind": "GadgetList"}
    assert made["spec"]["conversion"] == {"strategy": "None"}
    path = f"{CRDS}/gadgets.{GROUP}"

    def established():
        conditions = {c["type"]: c["status"] for c in kube.get(path).get("status", {}).get("conditions") or []}
        return conditions.get("Established") == "True" and conditions.get("NamesAccepted") == "True"

    until(established)
    status = kube.get(path)["status"]
    assert status["acceptedNames"] == made["spec"]["names"] and status["storedVersions"] == ["v1"]
    objects = f"/apis/{V1}/namespaces/{ns.name}/gadgets"
    until(lambda: served(kube, objects))
    kube.create(objects, {"apiVersion": V1, "kind": "Gadget", "metadata": {"name": "g"}})
    kube.delete(path)
    until(lambda: kube.get_or_none(path) is None)
    until(lambda: not served(kube, objects))
    kube.create(CRDS, body)
    until(lambda: served(kube, objects))
    assert kube.items(objects) == []
    kube.delete(path)
    until(lambda: kube.get_or_none(path) is None)


def test_crd_checks(kube):
    body = crd("gadgets", "Gadget", True)
    body["metadata"]["name"] = "wrong.name"
    status = refused(422, kube.create, CRDS, body)
    assert 'metadata.name: Invalid value: "wrong.name": must be spec.names.plural+"."+spec.group' in status["message"]
    body = crd("gadgets", "Gadget", True)
    del body["spec"]["versions"][0]["schema"]
    status = refused(422, kube.create, CRDS, body)
    assert "spec.versions[0].schema.openAPIV3Schema: Required value" in status["message"]


def test_versions_are_converted(kube, ns):
    body = crd("doubles", "Double", True)
    second = dict(body["spec"]["versions"][0], name="v2", storage=False)
    body["spec"]["versions"].append(second)
    kube.create(CRDS, body)
    objects = f"namespaces/{ns.name}/doubles"
    until(lambda: served(kube, f"/apis/{GROUP}/v2/{objects}"))
    kube.create(f"/apis/{GROUP}/v2/{objects}", {"apiVersion": GROUP + "/v2", "kind": "Double", "metadata": {"name": "d"}})
    assert kube.get(f"/apis/{V1}/{objects}/d")["apiVersion"] == V1
    assert kube.get(f"/apis/{GROUP}/v2/{objects}/d")["apiVersion"] == GROUP + "/v2"
    kube.delete(f"{CRDS}/doubles.{GROUP}")
    until(lambda: kube.get_or_none(f"{CRDS}/doubles.{GROUP}") is None)
