"""Lists, selectors, pages, watches."""

import http.client
import json
import threading

import pytest
from contract import GROUP, V1, refused, until, widget


def names(items):
    return [item["metadata"]["name"] for item in items]


def test_list_shape(ns):
    made = ns.widget("b")
    ns.widget("a")
    listed = ns.kube.get(ns.path("widgets"))
    assert listed["kind"] == "WidgetList" and listed["apiVersion"] == V1
    assert names(listed["items"]) == ["a", "b"]
    assert listed["items"][1] == made, "items of custom resources carry kind and apiVersion"
    assert int(listed["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"])
    ns.config_map("c")
    listed = ns.kube.get(ns.path("configmaps") + "?fieldSelector=metadata.name%3Dc")
    assert listed["kind"] == "ConfigMapList" and "kind" not in listed["items"][0]


def test_empty_list(ns):
    assert ns.kube.get(ns.path("widgets"))["items"] == []


@pytest.mark.parametrize("selector, want", [
    ("app=a", ["a"]), ("app==a", ["a"]), ("app!=a", ["b", "none"]), ("app", ["a", "b"]), ("!app", ["none"]),
    ("app in (a,b)", ["a", "b"]), ("app notin (a)", ["b", "none"]), ("app in (a, b),tier=x", ["b"]),
])
def test_label_selectors(ns, selector, want):
    ns.widget("a", labels={"app": "a"})
    ns.widget("b", labels={"app": "b", "tier": "x"})
    ns.widget("none")
    quoted = selector.replace("=", "%3D").replace(" ", "%20").replace(",", "%2C").replace("!", "%21")
    assert names(ns.kube.items(ns.path("widgets") + "?labelSelector=" + quoted)) == want


def test_bad_selectors(ns):
    status = refused(400, ns.kube.get, ns.path("widgets") + "?labelSelector=a%20in%20b")
    assert status["reason"] == "BadRequest" and "unable to parse requirement" in status["message"]
    status = refused(400, ns.kube.get, ns.path("widgets") + "?fieldSelector=spec.x%3D1")
    assert "field label not supported: spec.x" in status["message"]


def test_field_selectors(ns, kube):
    ns.widget("a")
    ns.widget("b")
    assert names(ns.kube.items(ns.path("widgets") + "?fieldSelector=metadata.name%3Da")) == ["a"]
    found = kube.items(f"/apis/{V1}/widgets?fieldSelector=metadata.namespace%3D{ns.name}")
    assert names(found) == ["a", "b"]


def test_pages_are_consistent(ns):
    for name in "abcde":
        ns.widget(name)
    path = ns.path("widgets")
    page = ns.kube.get(path + "?limit=2")
    assert names(page["items"]) == ["a", "b"] and page["metadata"]["remainingItemCount"] == 3
    ns.kube.delete(ns.path("widgets", "c"))
    ns.widget("dd")
    ns.kube.merge(ns.path("widgets", "e"), {"spec": {"replicas": 1}})
    second = ns.kube.get(path + "?limit=2&continue=" + page["metadata"]["continue"])
    assert names(second["items"]) == ["c", "d"]
    assert second["metadata"]["resourceVersion"] == page["metadata"]["resourceVersion"]
    third = ns.kube.get(path + "?limit=2&continue=" + second["metadata"]["continue"])
    assert names(third["items"]) == ["e"] and "replicas" not in third["items"][0].get("spec", {})
    assert not third["metadata"].get("continue") and "remainingItemCount" not in third["metadata"]


def test_bad_continue_token(ns):
    refused(400, ns.kube.get, ns.path("widgets") + "?continue=rubbish")


def test_list_of_the_future(ns):
    version = int(ns.kube.get(ns.path("widgets"))["metadata"]["resourceVersion"]) + 100000
    status = refused(504, ns.kube.get, ns.path("widgets") + f"?resourceVersion={version}")
    assert status["reason"] == "Timeout"
    assert status["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


class Watch:
    """A watch that is read by a thread; next() gives an event within ten seconds."""

    def __init__(self, kube, path, accept="application/json"):
        joint = "&" if "?" in path else "?"
        self.connection, self.response = kube.open("GET", path + joint + "watch=1", accept=accept, timeout=15)
        assert self.response.status == 200, self.response.read()

    def next(self):
        line = self.response.readline()
        return json.loads(line) if line.strip() else None

    def take(self, count):
        return [(e["type"], e["object"]["metadata"]["name"]) for e in (self.next() for _ in range(count))]

    def close(self):
        self.connection.close()


@pytest.fixture
def watch(ns):
    started = []

    def start(plural="widgets", query="", accept="application/json"):
        started.append(Watch(ns.kube, ns.path(plural) + query, accept))
        return started[-1]

    yield start
    for one in started:
        one.close()


def version_of(ns):
    return ns.kube.get(ns.path("widgets"))["metadata"]["resourceVersion"]


def test_watch_from_a_version(ns, watch):
    version = version_of(ns)
    made = ns.widget("a")
    w = watch(query=f"?resourceVersion={version}")
    assert w.next() == {"type": "ADDED", "object": made}
    changed = ns.kube.merge(ns.path("widgets", "a"), {"spec": {"replicas": 1}})
    assert w.next() == {"type": "MODIFIED", "object": changed}
    ns.kube.delete(ns.path("widgets", "a"))
    last = w.next()
    assert last["type"] == "DELETED" and last["object"]["spec"] == changed["spec"]
    assert int(last["object"]["metadata"]["resourceVersion"]) > int(changed["metadata"]["resourceVersion"])


def test_watch_without_version_starts_with_the_state(ns, watch):
    ns.widget("a")
    ns.widget("b")
    w = watch()
    assert sorted(w.take(2)) == [("ADDED", "a"), ("ADDED", "b")]
    ns.widget("c")
    assert w.take(1) == [("ADDED", "c")]


def test_watch_of_built_in_kinds_carries_kind(ns, watch):
    w = watch("configmaps", "?fieldSelector=metadata.name%3Dc")
    ns.config_map("c")
    event = w.next()
    assert event["object"]["kind"] == "ConfigMap" and event["object"]["apiVersion"] == "v1"


def test_selector_turns_changes_into_added_and_deleted(ns, watch):
    w = watch(query=f"?labelSelector=app%3Da&resourceVersion={version_of(ns)}")
    ns.widget("x")
    ns.widget("y", labels={"app": "a"})
    path = ns.path("widgets", "x")
    ns.kube.merge(path, {"metadata": {"labels": {"app": "a"}}})
    changed = ns.kube.merge(path, {"metadata": {"labels": {"app": "b"}}})
    assert w.take(2) == [("ADDED", "y"), ("ADDED", "x")]
    last = w.next()
    assert last["type"] == "DELETED" and last["object"]["metadata"]["name"] == "x"
    assert last["object"]["metadata"]["resourceVersion"] == changed["metadata"]["resourceVersion"]
    assert last["object"]["metadata"]["labels"] == {"app": "a"}


def test_watch_ends_by_timeout(ns, watch):
    w = watch(query=f"?timeoutSeconds=1&resourceVersion={version_of(ns)}")
    assert w.next() is None


def test_watch_across_namespaces(ns, kube):
    w = Watch(kube, f"/apis/{V1}/widgets?resourceVersion={version_of(ns)}")
    ns.widget("a")
    event = w.next()
    while event["object"]["metadata"]["namespace"] != ns.name:  # what an earlier test left is still being deleted
        event = w.next()
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")
    w.close()


def test_watch_of_one_name(ns, watch):
    ns.widget("a")
    w = watch(query="?fieldSelector=metadata.name%3Da")
    ns.widget("b")
    ns.kube.merge(ns.path("widgets", "a"), {"spec": {"replicas": 2}})
    assert w.take(2) == [("ADDED", "a"), ("MODIFIED", "a")]


def test_watch_of_missing_kind(ns):
    refused(404, ns.kube.get, f"/apis/{GROUP}/v1/namespaces/{ns.name}/nothings?watch=1")


def test_watch_of_metadata(ns, watch):
    w = watch(accept="application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
    made = ns.widget("a", {"replicas": 1})
    event = w.next()
    assert event["object"] == {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": made["metadata"]}


def test_list_of_metadata(ns):
    made = ns.widget("a", {"replicas": 1})
    listed = ns.kube.request("GET", ns.path("widgets"),
                             accept="application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
    assert listed["kind"] == "PartialObjectMetadataList" and listed["apiVersion"] == "meta.k8s.io/v1"
    assert listed["items"][0]["metadata"] == made["metadata"] and "spec" not in listed["items"][0]


TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


def test_table(ns):
    made = ns.widget("a", {"replicas": 1, "colour": "red"})
    table = ns.kube.request("GET", ns.path("widgets"), accept=TABLE)
    assert table["kind"] == "Table" and table["apiVersion"] == "meta.k8s.io/v1"
    assert [c["name"] for c in table["columnDefinitions"]] == ["Name", "Colour", "Replicas", "Age"]
    assert [c["type"] for c in table["columnDefinitions"]] == ["string", "string", "integer", "date"]
    row = table["rows"][0]
    assert row["cells"][:3] == ["a", "red", 1]
    assert row["object"] == {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": made["metadata"]}
    one = ns.kube.request("GET", ns.path("widgets", "a"), accept=TABLE)
    assert one["rows"][0]["cells"][0] == "a"


def test_table_watch(ns, watch):
    w = watch(accept=TABLE)
    ns.widget("a")
    ns.widget("b")
    first, second = w.next(), w.next()
    assert first["object"]["kind"] == second["object"]["kind"] == "Table"
    assert [c["name"] for c in first["object"]["columnDefinitions"]] == ["Name", "Colour", "Replicas", "Age"]
    assert not second["object"].get("columnDefinitions")
    assert second["object"]["rows"][0]["cells"][0] == "b"


def test_unknown_accept_is_refused_or_json(ns):
    connection, response = ns.kube.open("GET", ns.path("widgets"), accept="text/html, application/json")
    assert response.status == 200 and response.headers["Content-Type"] == "application/json"
    connection.close()


def test_many_watches_and_requests_share_the_server(ns):
    watches = [Watch(ns.kube, ns.path("widgets")) for _ in range(20)]
    made = threading.Thread(target=lambda: [ns.widget(f"n{i}") for i in range(5)])
    made.start()
    for w in watches:
        assert sorted(w.take(5)) == [("ADDED", f"n{i}") for i in range(5)]
        w.close()
    made.join()


def test_keep_alive(ns):
    connection = http.client.HTTPSConnection(ns.kube.host, ns.kube.port, context=ns.kube.tls, timeout=10)
    for _ in range(3):
        connection.request("GET", ns.path("widgets"), headers={"Authorization": f"Bearer {ns.kube.token}"} if ns.kube.token else {})
        response = connection.getresponse()
        assert response.status == 200 and response.read()
    connection.close()
