"""Server-side apply: ownership, conflicts, force, removal, lists."""

from contract import V1, deployment, refused, until, widget

KEYS = ("apiVersion", "fieldsType", "fieldsV1", "manager", "operation")


def entry(made, manager, operation="Apply", subresource=None):
    for one in made["metadata"].get("managedFields", []):
        if (one["manager"], one["operation"], one.get("subresource")) == (manager, operation, subresource):
            return one
    return None


def apply(ns, body, manager="a", force=False, plural="widgets", sub=None):
    return ns.kube.apply(ns.path(plural, body["metadata"]["name"], sub), body, manager, force)


def test_create_by_apply(ns):
    made = apply(ns, widget("w", {"replicas": 1, "parts": [{"name": "x", "count": 1}], "tags": ["t"], "list": ["l"],
                                  "map": {"k": "v"}}, labels={"app": "w"}))
    assert made["metadata"]["generation"] == 1
    mine = entry(made, "a")
    assert {key: mine[key] for key in KEYS if key != "fieldsV1"} == {
        "apiVersion": V1, "fieldsType": "FieldsV1", "manager": "a", "operation": "Apply"}
    assert mine["fieldsV1"] == {
        "f:metadata": {"f:labels": {"f:app": {}}},
        "f:spec": {"f:replicas": {}, "f:list": {}, "f:map": {"f:k": {}}, "f:tags": {'v:"t"': {}},
                   "f:parts": {'k:{"name":"x"}': {".": {}, "f:name": {}, "f:count": {}}}}}
    assert len(made["metadata"]["managedFields"]) == 1


def test_unchanged_apply_keeps_version(ns):
    first = apply(ns, widget("w", {"replicas": 1}))
    assert apply(ns, widget("w", {"replicas": 1})) == first
    other = apply(ns, widget("w", {"replicas": 1}), "b")
    assert other["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]
    assert apply(ns, widget("w", {"replicas": 1}), "b") == other


def test_unchanged_apply_of_a_deployment(ns):
    first = apply(ns, deployment(), plural="deployments")
    path = ns.path("deployments", "d")
    until(lambda: ns.kube.get(path).get("status", {}).get("observedGeneration") == 1)
    before = ns.kube.get(path)["metadata"]
    after = apply(ns, deployment(), plural="deployments")["metadata"]
    assert after["generation"] == first["metadata"]["generation"]
    assert entry({"metadata": after}, "a") == entry({"metadata": before}, "a")


def test_conflict(ns):
    apply(ns, widget("w", {"replicas": 1, "size": "s"}), "one")
    status = refused(409, apply, ns, widget("w", {"replicas": 2}), "two")
    assert status["reason"] == "Conflict"
    assert status["message"] == 'Apply failed with 1 conflict: conflict with "one": .spec.replicas'
    assert status["details"] == {"causes": [
        {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".spec.replicas"}]}
    status = refused(409, apply, ns, widget("w", {"replicas": 2, "size": "x"}), "two")
    assert status["message"] == 'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.replicas\n- .spec.size'


def test_conflict_with_update_names_version(ns):
    ns.widget("w", {"replicas": 1})
    status = refused(409, apply, ns, widget("w", {"replicas": 2}), "two")
    message = status["details"]["causes"][0]["message"]
    assert message.startswith('conflict with "') and message.endswith(f'" using {V1}')


def test_force_takes_over(ns):
    apply(ns, widget("w", {"replicas": 1, "size": "s"}), "one")
    made = apply(ns, widget("w", {"replicas": 2}), "two", force=True)
    assert made["spec"]["replicas"] == 2
    assert entry(made, "one")["fieldsV1"] == {"f:spec": {"f:size": {}}}
    assert entry(made, "two")["fieldsV1"] == {"f:spec": {"f:replicas": {}}}


def test_same_value_is_shared(ns):
    apply(ns, widget("w", {"replicas": 1}), "one")
    made = apply(ns, widget("w", {"replicas": 1}), "two")
    assert entry(made, "one")["fieldsV1"] == entry(made, "two")["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
    made = apply(ns, widget("w", {}), "one")
    assert made["spec"]["replicas"] == 1, "still owned by two"
    made = apply(ns, widget("w", {}), "two")
    assert "replicas" not in made["spec"]


def test_given_up_fields_are_removed(ns):
    apply(ns, widget("w", {"replicas": 1, "map": {"a": "1", "b": "2"}, "pair": {"left": "l"}}, labels={"x": "1", "y": "2"}))
    made = apply(ns, widget("w", {"map": {"a": "1"}}, labels={"y": "2"}))
    assert made["spec"] == {"map": {"a": "1"}, "size": "medium"} and made["metadata"]["labels"] == {"y": "2"}


def test_a_default_comes_back(ns):
    apply(ns, widget("w", {"size": "big", "replicas": 1}))
    assert apply(ns, widget("w", {"replicas": 1}))["spec"] == {"size": "medium", "replicas": 1}
    apply(ns, deployment(replicas=3), plural="deployments")
    body = deployment()
    del body["spec"]["replicas"]
    assert apply(ns, body, plural="deployments")["spec"]["replicas"] == 1


def test_a_map_that_an_apply_empties_becomes_null(ns):
    apply(ns, widget("w", {"size": "big"}))
    status = refused(422, apply, ns, widget("w", {}))
    assert 'spec: Invalid value: "null": spec in body must be of type object: "null"' in status["message"]


def test_map_list_items(ns):
    apply(ns, widget("w", {"parts": [{"name": "x", "count": 1}, {"name": "y", "count": 1}]}), "one")
    made = apply(ns, widget("w", {"parts": [{"name": "z", "count": 3}, {"name": "x", "note": "n"}]}), "two")
    parts = {p["name"]: p for p in made["spec"]["parts"]}
    assert parts == {"x": {"name": "x", "count": 1, "note": "n"}, "y": {"name": "y", "count": 1}, "z": {"name": "z", "count": 3}}
    made = apply(ns, widget("w", {"parts": [{"name": "y", "count": 1}]}), "one")
    parts = {p["name"]: p for p in made["spec"]["parts"]}
    assert parts == {"x": {"name": "x", "note": "n"}, "y": {"name": "y", "count": 1}, "z": {"name": "z", "count": 3}}
    made = apply(ns, widget("w", {}), "two")
    assert made["spec"]["parts"] == [{"name": "y", "count": 1}]


def test_sets_and_atomic_lists(ns):
    apply(ns, widget("w", {"tags": ["a", "b"], "list": ["1", "2"]}), "one")
    made = apply(ns, widget("w", {"tags": ["c"]}), "two")
    assert sorted(made["spec"]["tags"]) == ["a", "b", "c"]
    made = apply(ns, widget("w", {"tags": ["b"], "list": ["1", "2"]}), "one")
    assert sorted(made["spec"]["tags"]) == ["b", "c"]
    refused(409, apply, ns, widget("w", {"list": ["1"]}), "two")


def test_containers_by_name_and_env(ns):
    body = deployment()
    container = body["spec"]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    made = apply(ns, body, "one", plural="deployments")
    fields = entry(made, "one")["fieldsV1"]["f:spec"]["f:template"]["f:spec"]["f:containers"]['k:{"name":"main"}']
    assert fields["f:env"] == {'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}},
                               'k:{"name":"B"}': {".": {}, "f:name": {}, "f:value": {}}}
    assert fields["f:ports"] == {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}}
    side = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
            "spec": {"template": {"spec": {"containers": [{"name": "side", "image": "busybox:1"}]}}}}
    made = apply(ns, side, "two", plural="deployments")
    assert [c["name"] for c in made["spec"]["template"]["spec"]["containers"]] == ["main", "side"]
    container["env"].pop()
    made = apply(ns, body, "one", plural="deployments")
    containers = made["spec"]["template"]["spec"]["containers"]
    assert containers[0]["env"] == [{"name": "A", "value": "1"}] and len(containers) == 2
    side["spec"] = {}
    made = apply(ns, side, "two", plural="deployments")
    assert [c["name"] for c in made["spec"]["template"]["spec"]["containers"]] == ["main"]


def test_update_takes_what_it_changes(ns):
    apply(ns, widget("w", {"replicas": 1, "size": "s"}), "one")
    path = ns.path("widgets", "w")
    made = ns.kube.merge(path + "?fieldManager=human", {"spec": {"replicas": 5}})
    assert entry(made, "one")["fieldsV1"] == {"f:spec": {"f:size": {}}}
    assert entry(made, "human", "Update")["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
    status = refused(409, apply, ns, widget("w", {"replicas": 1, "size": "s"}), "one")
    assert 'conflict with "human" using ' in status["message"]
    made = apply(ns, widget("w", {"replicas": 1, "size": "s"}), "one", force=True)
    assert made["spec"]["replicas"] == 1 and entry(made, "human", "Update") is None


def test_removal_by_update_takes_it_from_the_applier(ns):
    apply(ns, widget("w", {"replicas": 1, "map": {"a": "1"}}), "one")
    made = ns.kube.merge(ns.path("widgets", "w") + "?fieldManager=human", {"spec": {"map": None}})
    assert entry(made, "one")["fieldsV1"] == {"f:spec": {"f:replicas": {}}}


def test_create_owns_everything(ns):
    made = ns.kube.create(ns.path("widgets") + "?fieldManager=maker", widget("w", {"replicas": 1}, labels={"a": "b"}))
    assert entry(made, "maker", "Update")["fieldsV1"] == {
        "f:metadata": {"f:labels": {".": {}, "f:a": {}}}, "f:spec": {".": {}, "f:replicas": {}, "f:size": {}}}


def test_status_by_apply(ns):
    apply(ns, widget("w", {"replicas": 1}), "one")
    body = widget("w")
    body["status"] = {"state": "ok"}
    made = apply(ns, body, "one", sub="status")
    assert made["status"] == {"state": "ok"} and made["metadata"]["generation"] == 1
    assert entry(made, "one", subresource="status")["fieldsV1"] == {"f:status": {"f:state": {}}}
    assert entry(made, "one")["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
    assert apply(ns, body, "one", sub="status") == made
    body["status"] = {"odd": 1}
    refused(500, apply, ns, body, "one", sub="status")


def test_status_on_the_main_endpoint_is_ignored(ns):
    body = widget("w", {"replicas": 1})
    body["status"] = {"state": "no"}
    made = apply(ns, body, "one")
    assert "status" not in made and entry(made, "one")["fieldsV1"] == {"f:spec": {"f:replicas": {}}}


def test_undeclared_field(ns):
    status = refused(500, apply, ns, widget("w", {"odd": 1}))
    assert status["message"].endswith(".spec.odd: field not declared in schema")


def test_apply_needs_a_manager(ns):
    refused(422, ns.kube.request, "PATCH", ns.path("widgets", "w"), widget("w"), "application/apply-patch+yaml")


def test_apply_with_versions(ns):
    made = apply(ns, widget("w", {"replicas": 1}))
    ns.kube.merge(ns.path("widgets", "w"), {"metadata": {"labels": {"x": "y"}}})
    refused(409, apply, ns, widget("w", {"replicas": 2}, resourceVersion=made["metadata"]["resourceVersion"]))
    assert refused(422, apply, ns, widget("w", {"replicas": 2}, uid="00000000-0000-4000-8000-000000000000"))


def test_finalizers_and_owners_merge(ns):
    owner = ns.config_map("o")["metadata"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": owner["uid"]}
    apply(ns, widget("w", finalizers=["example.com/one"], ownerReferences=[reference]), "one")
    made = apply(ns, widget("w", finalizers=["example.com/two"]), "two")
    assert sorted(made["metadata"]["finalizers"]) == ["example.com/one", "example.com/two"]
    fields = entry(made, "one")["fieldsV1"]["f:metadata"]
    assert fields["f:ownerReferences"] == {'k:{"uid":"%s"}' % owner["uid"]: {}}
    made = apply(ns, widget("w"), "one")
    assert made["metadata"]["finalizers"] == ["example.com/two"] and "ownerReferences" not in made["metadata"]
    apply(ns, widget("w"), "two")
