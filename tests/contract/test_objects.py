"""Create, get, update, patch: metadata, validation, generation, the status subresource."""

import re

from contract import GROUP, V1, deployment, refused, widget

JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


def test_create_sets_metadata(ns):
    made = ns.widget(spec={"replicas": 1})
    meta = made["metadata"]
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", meta["uid"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", meta["creationTimestamp"])
    assert meta["generation"] == 1 and meta["namespace"] == ns.name and int(meta["resourceVersion"]) > 0
    assert made == ns.kube.get(ns.path("widgets", "w"))


def test_defaults_and_pruning(ns):
    made = ns.widget(spec={"pair": {"left": "l"}, "unknown": 1, "free": {"kept": {"deep": 1}}})
    assert made["spec"] == {"size": "medium", "pair": {"left": "l", "right": "r"}, "free": {"kept": {"deep": 1}}}


def test_unknown_field_strict_and_warn(ns):
    path = ns.path("widgets")
    status = refused(400, ns.kube.create, path + "?fieldValidation=Strict", widget(spec={"unknown": 1}))
    assert 'strict decoding error: unknown field "spec.unknown"' in status["message"]
    assert status["reason"] == "BadRequest"
    connection, response = ns.kube.open("POST", path, widget(spec={"unknown": 1}))
    assert response.status == 201
    assert response.headers.get_all("Warning") == ['299 - "unknown field \\"spec.unknown\\""']
    connection.close()


def test_null_is_pruned_for_defaults_and_kept_when_nullable(ns):
    made = ns.widget(spec={"size": None, "maybe": None, "replicas": None, "map": {}})
    assert made["spec"] == {"size": "medium", "maybe": None, "map": {}}
    made = ns.kube.request("PUT", ns.path("widgets", "w"), dict(made, spec={"size": None, "maybe": None, "replicas": None}))
    assert made["spec"] == {"size": "medium", "maybe": None}


def test_numbers_keep_their_value(ns):
    made = ns.widget(spec={"free": {"big": 9007199254740993, "long": 1234567890123460, "half": 0.5}})
    assert made["spec"]["free"] == {"big": 9007199254740993, "long": 1234567890123460, "half": 0.5}


def check_invalid(ns, spec, field, reason, message):
    status = refused(422, ns.kube.create, ns.path("widgets"), widget("bad", spec))
    assert status["reason"] == "Invalid" and status["status"] == "Failure" and status["code"] == 422
    assert status["details"]["name"] == "bad" and status["details"]["kind"] == "Widget"
    assert status["details"]["group"] == GROUP
    cause = [c for c in status["details"]["causes"] if c["field"] == field][0]
    assert (cause["reason"], cause["message"]) == (reason, message)
    assert status["message"].startswith(f'Widget.{GROUP} "bad" is invalid: ')
    assert f"{field}: {message}" in status["message"]


def test_validation_type(ns):
    check_invalid(ns, {"replicas": "x"}, "spec.replicas", "FieldValueTypeInvalid",
                  'Invalid value: "string": spec.replicas in body must be of type integer: "string"')


def test_validation_minimum(ns):
    check_invalid(ns, {"replicas": -1}, "spec.replicas", "FieldValueInvalid",
                  "Invalid value: -1: spec.replicas in body should be greater than or equal to 0")


def test_validation_maximum(ns):
    check_invalid(ns, {"replicas": 11}, "spec.replicas", "FieldValueInvalid",
                  "Invalid value: 11: spec.replicas in body should be less than or equal to 10")


def test_validation_enum(ns):
    check_invalid(ns, {"colour": "blue"}, "spec.colour", "FieldValueNotSupported",
                  'Unsupported value: "blue": supported values: "red", "green"')


def test_validation_required(ns):
    check_invalid(ns, {"pair": {}}, "spec.pair.left", "FieldValueRequired", "Required value")


def test_validation_pattern(ns):
    check_invalid(ns, {"name": "A1"}, "spec.name", "FieldValueInvalid",
                  "Invalid value: \"A1\": spec.name in body should match '^[a-z]+$'")


def test_validation_length(ns):
    check_invalid(ns, {"name": "abcdefgh"}, "spec.name", "FieldValueTooLong", "Too long: may not be more than 5 bytes")


def test_validation_duplicates(ns):
    check_invalid(ns, {"tags": ["a", "a"]}, "spec.tags[1]", "FieldValueDuplicate", 'Duplicate value: "a"')
    check_invalid(ns, {"parts": [{"name": "a"}, {"name": "a"}]}, "spec.parts[1]", "FieldValueDuplicate",
                  'Duplicate value: {"name":"a"}')


def test_validation_int_or_string(ns):
    assert ns.widget("a", {"either": 1})["spec"]["either"] == 1
    assert ns.widget("b", {"either": "x"})["spec"]["either"] == "x"
    refused(422, ns.kube.create, ns.path("widgets"), widget("c", {"either": True}))


def test_names_and_labels(ns):
    status = refused(422, ns.kube.create, ns.path("widgets"), widget("Upper"))
    assert status["details"]["causes"][0]["field"] == "metadata.name"
    assert 'Invalid value: "Upper": a lowercase RFC 1123 subdomain must consist of' in status["message"]
    status = refused(422, ns.kube.create, ns.path("widgets"), widget("a", labels={"k": "x" * 64}))
    assert status["details"]["causes"][0]["field"] == "metadata.labels"
    status = refused(422, ns.kube.create, ns.path("widgets"), widget("a", labels={"-k": "x"}))
    assert status["details"]["causes"][0]["field"] == "metadata.labels"


def test_body_must_agree_with_path(ns):
    other = widget("a", namespace="elsewhere")
    status = refused(400, ns.kube.create, ns.path("widgets"), other)
    assert status["message"] == ("the namespace of the provided object does not match the namespace sent on the request")
    wrong = widget("a")
    wrong["apiVersion"] = GROUP + "/v2"
    status = refused(400, ns.kube.create, ns.path("widgets"), wrong)
    assert status["message"] == (f"the API version in the data ({GROUP}/v2) does not match the expected API version ({V1})")
    ns.widget("a")
    body = widget("b")
    refused(400, ns.kube.request, "PUT", ns.path("widgets", "a"), body)


def test_broken_body_is_400(ns):
    refused(400, ns.kube.create, ns.path("widgets"), '{"a":')
    refused(400, ns.kube.create, ns.path("configmaps"), '{"a":')


def test_already_exists(ns):
    ns.widget("a")
    status = refused(409, ns.widget, "a")
    assert status["reason"] == "AlreadyExists"
    assert status["message"] == f'widgets.{GROUP} "a" already exists'
    assert status["details"] == {"name": "a", "group": GROUP, "kind": "widgets"}


def test_not_found(ns):
    status = refused(404, ns.kube.get, ns.path("widgets", "no"))
    assert status["reason"] == "NotFound" and status["message"] == f'widgets.{GROUP} "no" not found'
    assert status["details"] == {"name": "no", "group": GROUP, "kind": "widgets"}
    status = refused(404, ns.kube.get, ns.path("configmaps", "no"))
    assert status["message"] == 'configmaps "no" not found' and status["details"] == {"name": "no", "kind": "configmaps"}
    status = refused(404, ns.kube.request, "PUT", ns.path("widgets", "no"), widget("no", resourceVersion="1"))
    assert status["reason"] == "NotFound"
    refused(404, ns.kube.merge, ns.path("widgets", "no"), {})


def test_missing_namespace_is_404(kube):
    status = refused(404, kube.create, "/api/v1/namespaces/no-such/configmaps", {"metadata": {"name": "a"}})
    assert status["message"] == 'namespaces "no-such" not found'
    assert status["details"] == {"name": "no-such", "kind": "namespaces"}


def test_unknown_paths(kube):
    status = refused(404, kube.get, f"/apis/{V1}/nothings")
    assert status == "404 page not found\n" or status["message"] == "the server could not find the requested resource"
    assert refused(404, kube.get, "/apis/no.such.group/v1/things") == "404 page not found\n"


def test_generate_name(ns):
    made = ns.kube.create(ns.path("configmaps"), {"metadata": {"generateName": "gen-"}})
    assert re.fullmatch(r"gen-[a-z0-9]{5}", made["metadata"]["name"])
    assert made["metadata"]["generateName"] == "gen-"


def test_update_conflict_and_no_change(ns):
    first = ns.widget("a", {"replicas": 1})
    second = ns.kube.merge(ns.path("widgets", "a"), {"spec": {"replicas": 2}})
    assert second["metadata"]["generation"] == 2
    first["spec"]["replicas"] = 3
    status = refused(409, ns.kube.request, "PUT", ns.path("widgets", "a"), first)
    assert status["reason"] == "Conflict"
    assert status["message"] == (f'Operation cannot be fulfilled on widgets.{GROUP} "a": the object has been modified; '
                                 "please apply your changes to the latest version and try again")
    assert status["details"] == {"name": "a", "group": GROUP, "kind": "widgets"}
    same = ns.kube.request("PUT", ns.path("widgets", "a"), second)
    assert same["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]
    same = ns.kube.merge(ns.path("widgets", "a"), {"spec": {"replicas": 2}})
    assert same["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]


def test_patch_with_resource_version_and_uid(ns):
    made = ns.widget("a", {"replicas": 1})
    ns.kube.merge(ns.path("widgets", "a"), {"spec": {"replicas": 2}})
    refused(409, ns.kube.merge, ns.path("widgets", "a"),
            {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}, "spec": {"replicas": 3}})
    wrong = {"metadata": {"uid": "00000000-0000-4000-8000-000000000000"}, "spec": {"replicas": 3}}
    status = refused(422, ns.kube.merge, ns.path("widgets", "a"), wrong)
    assert status["details"]["causes"][0]["field"] == "metadata.uid" and "field is immutable" in status["message"]


def test_custom_resource_put_needs_version(ns):
    ns.widget("a")
    status = refused(422, ns.kube.request, "PUT", ns.path("widgets", "a"), widget("a"))
    assert status["details"]["causes"][0]["field"] == "metadata.resourceVersion"
    ns.config_map("c")
    made = ns.kube.request("PUT", ns.path("configmaps", "c"), {"metadata": {"name": "c"}, "data": {"b": "2"}})
    assert made["data"] == {"b": "2"}


def test_generation_with_status_subresource(ns):
    ns.widget("a", {"replicas": 1})
    path = ns.path("widgets", "a")
    assert ns.kube.merge(path, {"metadata": {"labels": {"x": "y"}}})["metadata"]["generation"] == 1
    assert ns.kube.merge(path, {"spec": {"replicas": 2}})["metadata"]["generation"] == 2
    changed = ns.kube.merge(path, {"status": {"state": "no"}})
    assert "status" not in changed and changed["metadata"]["generation"] == 2
    changed = ns.kube.merge(path + "/status", {"status": {"state": "yes"}, "spec": {"replicas": 9}})
    assert changed["status"] == {"state": "yes"} and changed["spec"]["replicas"] == 2
    assert changed["metadata"]["generation"] == 2
    assert ns.kube.get(path + "/status") == changed


def test_status_is_not_taken_at_create(ns):
    body = widget("a")
    body["status"] = {"state": "x"}
    assert "status" not in ns.kube.create(ns.path("widgets"), body)


def test_generation_without_status_subresource(ns):
    body = widget("a", {"replicas": 1}, "plains")
    body["status"] = {"state": "x"}
    made = ns.kube.create(ns.path("plains"), body)
    assert made["status"] == {"state": "x"} and made["metadata"]["generation"] == 1
    path = ns.path("plains", "a")
    assert ns.kube.merge(path, {"status": {"state": "y"}})["metadata"]["generation"] == 2
    assert ns.kube.merge(path, {"metadata": {"labels": {"x": "y"}}})["metadata"]["generation"] == 2
    status = refused(404, ns.kube.merge, path + "/status", {"status": {"state": "z"}})
    assert status["reason"] == "NotFound"


def test_status_pruned_with_warning(ns):
    ns.widget("a")
    connection, response = ns.kube.open("PATCH", ns.path("widgets", "a", "status"), {"status": {"state": "x", "odd": 1}},
                                        "application/merge-patch+json")
    assert response.status == 200
    assert response.headers.get_all("Warning") == ['299 - "unknown field \\"status.odd\\""']
    connection.close()
    assert ns.kube.get(ns.path("widgets", "a"))["status"] == {"state": "x"}


def test_json_patch(ns):
    ns.widget("a", {"list": ["x", "y"], "map": {"k": "v"}})
    path = ns.path("widgets", "a")
    made = ns.kube.request("PATCH", path, [{"op": "add", "path": "/spec/list/1", "value": "z"},
                                           {"op": "remove", "path": "/spec/map/k"},
                                           {"op": "test", "path": "/spec/size", "value": "medium"},
                                           {"op": "replace", "path": "/spec/size", "value": "big"}], JSON_PATCH)
    assert made["spec"] == {"list": ["x", "z", "y"], "map": {}, "size": "big"}
    status = refused(422, ns.kube.request, "PATCH", path, [{"op": "remove", "path": "/spec/no"}], JSON_PATCH)
    assert status["reason"] == "Invalid"
    refused(422, ns.kube.request, "PATCH", path, [{"op": "test", "path": "/spec/size", "value": "no"}], JSON_PATCH)


def test_strategic_merge_patch(ns):
    ns.kube.create(ns.path("deployments"), deployment())
    path = ns.path("deployments", "d")
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "busybox:1"},
                                                            {"name": "main", "image": "nginx:2"}]}}}}
    made = ns.kube.request("PATCH", path, patch, STRATEGIC)
    containers = {c["name"]: c["image"] for c in made["spec"]["template"]["spec"]["containers"]}
    assert containers == {"main": "nginx:2", "side": "busybox:1"}
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "side", "$patch": "delete"}]}}}}
    made = ns.kube.request("PATCH", path, patch, STRATEGIC)
    assert [c["name"] for c in made["spec"]["template"]["spec"]["containers"]] == ["main"]
    ns.widget("a")
    assert refused(415, ns.kube.request, "PATCH", ns.path("widgets", "a"), {}, STRATEGIC)["reason"] == "UnsupportedMediaType"


def test_deployment_defaults(ns):
    body = deployment()
    del body["spec"]["replicas"]
    spec = ns.kube.create(ns.path("deployments"), body)["spec"]
    assert spec["replicas"] == 1 and spec["revisionHistoryLimit"] == 10 and spec["progressDeadlineSeconds"] == 600
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}
    pod = spec["template"]["spec"]
    assert pod == {"containers": [{"name": "main", "image": "nginx:1.25", "imagePullPolicy": "IfNotPresent", "resources": {},
                                   "ports": [{"containerPort": 80, "protocol": "TCP"}],
                                   "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}],
                   "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
                   "securityContext": {}, "schedulerName": "default-scheduler"}


def test_deployment_checks(ns):
    body = deployment()
    del body["spec"]["selector"]
    status = refused(422, ns.kube.create, ns.path("deployments"), body)
    assert "spec.selector" in [c["field"] for c in status["details"]["causes"]]
    body = deployment()
    body["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    status = refused(422, ns.kube.create, ns.path("deployments"), body)
    assert 'Deployment.apps "d" is invalid: spec.template.metadata.labels: Invalid value: ' in status["message"]
    assert "`selector` does not match template `labels`" in status["message"]


def test_secret_string_data(ns):
    made = ns.kube.create(ns.path("secrets"), {"metadata": {"name": "s"}, "stringData": {"k": "value"}})
    assert made["data"] == {"k": "dmFsdWU="} and "stringData" not in made and made["type"] == "Opaque"


def test_dry_run(ns):
    ns.kube.create(ns.path("configmaps") + "?dryRun=All", {"metadata": {"name": "c"}})
    refused(404, ns.kube.get, ns.path("configmaps", "c"))


def test_events_have_two_spellings(ns):
    event = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}, "type": "Normal", "reason": "Made",
             "note": "hello", "action": "Make", "eventTime": "2026-01-01T00:00:00.000000Z",
             "reportingController": "contract.example.com/c", "reportingInstance": "c-1",
             "regarding": {"kind": "ConfigMap", "namespace": ns.name, "name": "x"}}
    path = f"/apis/events.k8s.io/v1/namespaces/{ns.name}/events"
    made = ns.kube.create(path, event)
    assert made["note"] == "hello"
    core = ns.kube.get(ns.path("events", "e"))
    assert core["message"] == "hello" and core["involvedObject"]["name"] == "x"
    assert core["reportingComponent"] == "contract.example.com/c"
    found = ns.kube.items(ns.path("events") + "?fieldSelector=involvedObject.name%3Dx")
    assert [e["metadata"]["name"] for e in found] == ["e"]
    event["metadata"]["name"] = "long"
    event["note"] = "x" * 1025
    refused(422, ns.kube.create, path, event)


def test_scale(ns):
    ns.kube.create(ns.path("deployments"), deployment())
    path = ns.path("deployments", "d", "scale")
    scale = ns.kube.get(path)
    assert scale["kind"] == "Scale" and scale["apiVersion"] == "autoscaling/v1" and scale["spec"] == {"replicas": 1}
    assert ns.kube.merge(path, {"spec": {"replicas": 3}})["spec"]["replicas"] == 3
    made = ns.kube.get(ns.path("deployments", "d"))
    assert made["spec"]["replicas"] == 3 and made["metadata"]["generation"] == 2
