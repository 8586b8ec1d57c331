"""A watch never silently stops: connections cut at any byte, answers that stall, errors in every shape, and what is known afterwards.

The faults are made by tests/faultproxy between operatord and the server; what the server has is changed beside it.
"""

import json
import time

import pytest

from faultproxy import Rule, event, gone, status_of
from programs import wait_for
from sites import controllers_of

GREETINGS = "/greetings"
WATCH = {"watch": "1"}


class Greetings:
    """operatord with the greeting example through the proxy, and the administrator's hand on the objects."""

    def __init__(self, site, objects, proxy):
        self.site, self.objects, self.proxy = site, objects, proxy
        self.path = f"/namespaces/{site.namespace}{GREETINGS}$"

    def start(self, live=True, **top):
        self.site.write(self.site.main(controllers_of("greeting"), **top))
        self.site.start(*(["greeting"] if live else []), kubeconfig=self.proxy.kubeconfig())
        return self

    def rule(self, **fields):
        """Of the primary watch."""
        return self.proxy.add(Rule(path=self.path, query=WATCH, **fields))

    def list_rule(self, **fields):
        return self.proxy.add(Rule(path=self.path, query={"watch": None}, **fields))

    def watches(self):
        return self.proxy.watches(self.path)

    def lists(self):
        return self.proxy.seen("GET", self.path, {"watch": None})

    def create(self, name, audience="x"):
        return self.objects.create(self.objects.greeting(), "Greeting", name, spec={"audience": audience})

    def change(self, name, audience):
        return self.objects.kube.merge(self.objects.greeting(name), {"spec": {"audience": audience}})

    def delete(self, name):
        self.objects.kube.delete(self.objects.greeting(name))

    def text(self, name):
        found = self.objects.kube.get_or_none(self.objects.configmap(name))
        return None if found is None else found["data"]["greeting"]

    def followed(self, name, audience, seconds=10):
        return wait_for(f"{name} greets {audience}", lambda: self.text(name) == f"Hello, {audience}!", seconds)

    def worker(self):
        return self.site.operatord.workers()["greeting"]

    def live(self, seconds=6):
        self.site.operatord.wait_live("greeting", seconds=seconds)

    def reopened(self, n, seconds=10):
        """Waits for more than n watches, the last one of them answered."""
        wait_for(f"watch number {n + 1}", lambda: len(self.watches()) > n and self.watches()[-1].status == 200, seconds)
        return self.watches()[-1]

    def quiet(self, n):
        """So many objects are done; before that the answer to a write may tell of a change."""
        wait_for("quiet", lambda: self.site.metric("operatord_objects", controller="greeting", status="ready") == n)

    def errors(self):
        """Lines of the log at level error, and warnings."""
        lines = [json.loads(line) for line in self.site.operatord.log().splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("level") in ("error", "warn", "warning")]

    def restarts(self, cause):
        return self.site.metric("operatord_watch_restarts_total", controller="greeting", cause=cause)


@pytest.fixture
def greetings(site, objects, proxy):
    yield Greetings(site, objects, proxy)
    site.close()  # before the proxy goes


def settle(greetings, names="abc"):
    """Started, and these objects followed."""
    for name in names:
        greetings.create(name, "1")
    greetings.start()
    for name in names:
        greetings.followed(name, "1")
    greetings.reopened(0)  # live is said when the list is complete
    return greetings


# Bytes and connections


def test_one_byte_at_a_time(greetings):
    """E49: events in chunks of one byte each are whole events, handled within a second."""
    greetings.rule(chunk=1)
    settle(greetings, "a")
    for i in range(3):
        began = time.monotonic()
        greetings.change("a", f"round {i}")
        greetings.followed("a", f"round {i}", seconds=2)
        assert time.monotonic() - began < 1.5
    assert len(greetings.lists()) == 1 and greetings.restarts("malformed") == 0


@pytest.mark.parametrize("reset", [False, True], ids=["FIN", "RST"])
def test_a_cut_watch_is_open_again_within_a_second(greetings, reset):
    """What changed while it was cut is followed, from the version that was seen last; no list, and nothing to complain about."""
    settle(greetings)
    number = len(greetings.watches())
    cut = time.monotonic()
    assert greetings.proxy.cut(reset, path=greetings.path, query=WATCH) == 1
    greetings.change("a", "after")
    again = greetings.reopened(number)
    assert again.time - cut < 1.0
    greetings.followed("a", "after")
    assert len(greetings.lists()) == 1
    assert not greetings.errors()
    assert greetings.worker()["state"] == "live"


def test_what_cuts_idle_connections_leaves_no_watch_blind(greetings):
    """Cut again and again at once the distances grow; after ten seconds in which it stood a watch is open again within one, whatever was before."""
    settle(greetings, "a")
    for _ in range(3):
        number = len(greetings.watches())
        assert greetings.proxy.cut(path=greetings.path, query=WATCH) == 1
        stood = greetings.reopened(number)
    time.sleep(max(0.0, stood.time + 10.5 - time.monotonic()))
    number, cut = len(greetings.watches()), time.monotonic()
    assert greetings.proxy.cut(path=greetings.path, query=WATCH) == 1
    assert greetings.reopened(number).time - cut < 1.0
    assert len(greetings.lists()) == 1


@pytest.mark.parametrize("at", [0, 1, 17, 150, 400, 2000])
def test_cut_inside_an_event(greetings, at):
    """E49: the half that came is forgotten; the event comes again by the next watch, and is handled once."""
    greetings.rule(nth=1, cut_at=at, reset=at % 2 == 0)
    greetings.start(live=False)
    wait_for("the first watch", greetings.watches)
    for i in range(6):
        greetings.create(f"g{i}", "cut " * 20)
    for i in range(6):
        greetings.followed(f"g{i}", "cut " * 20)
    assert greetings.restarts("malformed") == 0
    assert len(greetings.lists()) == 1, "a cut is no reason to list"


def test_a_connection_that_breaks_between_two_requests(greetings):
    """E101: idle connections that the server closed, or that are reset by the next request, cost nothing."""
    settle(greetings, "a")
    for i, reset in enumerate((False, True, False, True)):
        wait_for("idle connections", lambda reset=reset: greetings.proxy.cut_idle(reset))
        greetings.change("a", f"idle {i}")
        greetings.followed("a", f"idle {i}", seconds=3)
    assert not greetings.errors()


# Stalls


def test_a_silent_watch_is_opened_anew(greetings):
    """E61: no byte for watchSilence on a connection that nobody closed."""
    greetings.rule(nth=1, stall_at=0)
    greetings.create("a", "1")
    greetings.start(defaults={"watchSilence": "3s"})
    greetings.followed("a", "1")
    greetings.quiet(1)
    greetings.change("a", "unseen")
    greetings.followed("a", "unseen", seconds=8)
    first, second = greetings.watches()[:2]
    assert 2.5 < second.time - first.time < 5
    assert second.connection != first.connection
    assert second.query["resourceVersion"] == first.query["resourceVersion"]
    assert len(greetings.lists()) == 1


@pytest.mark.parametrize("phase", ["request", "headers", "body"])
def test_a_list_that_stalls(greetings, phase):
    """E63: in any phase the time of a request is finite, and the next one is on another connection."""
    greetings.create("a", "1")
    greetings.list_rule(nth=1, stall=phase)
    greetings.start(defaults={"requestTimeout": "2s"}, live=False)
    greetings.live()
    greetings.followed("a", "1")
    first, second = greetings.lists()[:2]
    assert 1.5 < second.time - first.time < 6
    assert second.connection != first.connection


@pytest.mark.parametrize("what", ["silent", "half", "garbage", "close", "reset"])
def test_handshakes_that_come_to_nothing(greetings, what):
    """E63: connections that are taken, and no TLS behind them."""
    greetings.create("a", "1")
    greetings.proxy.fault_connections(what, times=2)
    greetings.start(defaults={"requestTimeout": "2s"}, live=False)
    greetings.live(seconds=30)
    greetings.followed("a", "1")


def test_a_black_hole_on_the_connections_of_requests(greetings):
    """E65: every idle connection is dead, and nobody says so: requests end by their own timeout, and the next ones are on new connections."""
    for name in "abc":
        greetings.create(name, "1")
    greetings.start(defaults={"requestTimeout": "2s"})
    for name in "abc":
        greetings.followed(name, "1")
    greetings.quiet(3)
    wait_for("idle connections", greetings.proxy.hold_idle)
    began = time.monotonic()
    for name in "abc":
        greetings.change(name, "dark")
    for name in "abc":
        greetings.followed(name, "dark", seconds=12)
    assert time.monotonic() - began < 8


# Errors


EXPIRED = {
    "HTTP 410": {"status": 410, "body": status_of(410, "Expired", "too old resource version: 1 (2)")},
    "HTTP 410 with a token": {"status": 410, "body": {**status_of(410, "Expired", "too old"), "metadata": {"continue": "rest"}}},
    "HTTP 410 in HTML": {"status": 410, "body": "<html>gone</html>", "headers": {"Content-Type": "text/html"}},
    "event Expired": {"stream": [gone("Expired")], "end": 1},
    "event Gone": {"stream": [gone("Gone")]},
    "event 410 without a reason": {"stream": [event("ERROR", status_of(410))]},
    "HTTP 400": {"status": 400, "body": status_of(400, "BadRequest", "invalid resource version")},
}


@pytest.mark.parametrize("shape", EXPIRED)
def test_a_version_that_is_too_old(greetings, shape):
    """E53, E55, E59, E79: one new list, the version is not asked for again, and a deletion that nobody told of is found."""
    settle(greetings)
    greetings.rule(nth=1, **EXPIRED[shape])  # the second watch: rules count from when they are added
    refused = []
    number = len(greetings.watches())
    greetings.list_rule(nth=1, delay=0.5)
    greetings.proxy.cut(path=greetings.path, query=WATCH)
    greetings.delete("b")
    wait_for("the refusal", lambda: len(greetings.watches()) > number)
    refused = greetings.watches()[number].query["resourceVersion"]
    wait_for("b forgotten", lambda: greetings.site.metric("operatord_objects", controller="greeting") == 2)
    greetings.live()
    greetings.change("a", "after")
    greetings.followed("a", "after")
    assert len(greetings.lists()) == 2
    later = [watch.query["resourceVersion"] for watch in greetings.watches()[number + 1:]]
    assert later and refused not in later


def test_watches_that_end_as_they_should(greetings):
    """E57: on from the last version, without a list, without a word at level error."""
    greetings.rule(end=2)
    greetings.start()
    for i in range(8):
        greetings.create(f"g{i}", str(i))
        greetings.followed(f"g{i}", str(i))
    assert len(greetings.watches()) > 4
    assert len(greetings.lists()) == 1
    versions = [int(watch.query["resourceVersion"]) for watch in greetings.watches()]
    assert versions == sorted(versions) and len(set(versions)) > 4
    assert not greetings.errors()


def test_a_bookmark_is_where_the_next_watch_begins(greetings):
    """E75."""
    settle(greetings, "a")
    other = greetings.objects.kube.create(greetings.objects.configmap(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}})
    version = other["metadata"]["resourceVersion"]
    mark = event("BOOKMARK", {"kind": "Greeting", "apiVersion": "demo.operator/v1", "metadata": {"resourceVersion": version}})
    number = len(greetings.watches())
    greetings.rule(nth=1, stream=[mark], end=1)
    greetings.proxy.cut(path=greetings.path, query=WATCH)
    wait_for("the watch after it", lambda: len(greetings.watches()) > number + 1)
    assert greetings.watches()[number + 1].query["resourceVersion"] == version


THROTTLED = {
    "header": {"status": 429, "headers": {"Retry-After": "2"}, "body": status_of(429, "TooManyRequests", "please try again later")},
    "details": {"status": 429, "body": status_of(429, "TooManyRequests", "later", details={"retryAfterSeconds": 2})},
    "event": {"stream": [event("ERROR", status_of(429, "TooManyRequests", "later", details={"retryAfterSeconds": 2}))], "end": 1},
    "text": {"status": 429, "headers": {"Retry-After": "2"}, "body": "Too many requests, please try again later."},
}


@pytest.mark.parametrize("shape", THROTTLED)
def test_throttled(greetings, shape):
    """E67: what the server asks for is waited, then the same version again, without a list."""
    settle(greetings, "a")
    number = len(greetings.watches())
    greetings.rule(nth=1, **THROTTLED[shape])
    greetings.proxy.cut(path=greetings.path, query=WATCH)
    wait_for("the watch after it", lambda: len(greetings.watches()) > number + 1)
    refused, again = greetings.watches()[number:number + 2]
    assert 1.9 < again.time - refused.time < 5
    assert again.query["resourceVersion"] == refused.query["resourceVersion"]
    greetings.change("a", "after")
    greetings.followed("a", "after")
    assert len(greetings.lists()) == 1


def test_throttled_for_long(greetings):
    """Sustained 429 without a hint: the distances grow, and no two are the same."""
    settle(greetings, "a")
    number = len(greetings.watches())
    rule = greetings.rule(status=429, body=status_of(429, "TooManyRequests"))
    greetings.proxy.cut(path=greetings.path, query=WATCH)
    wait_for("four refusals", lambda: rule.used >= 4, seconds=30)
    times = [watch.time for watch in greetings.watches()[number:]]
    gaps = [later - sooner for sooner, later in zip(times, times[1:])]
    assert gaps[-1] > 1.5 and max(gaps) == gaps[-1] and len({round(gap, 2) for gap in gaps}) == len(gaps), gaps
    assert len(greetings.lists()) == 1
    greetings.proxy.clear()
    greetings.change("a", "after")
    greetings.followed("a", "after", seconds=35)


WRONG = {
    "500": {"status": 500, "body": status_of(500, "InternalError")},
    "503 in HTML": {"status": 503, "headers": {"Content-Type": "text/html"}, "body": "<html><body>upstream</body></html>"},
    "504 without a body": {"status": 504},
    "redirect": {"status": 302, "headers": {"Location": "https://127.0.0.1:1/elsewhere"}},
    "gzip": {"status": 200, "headers": {"Content-Encoding": "gzip", "Content-Type": "application/json"}, "body": b"\x1f\x8b\x08\x00garbage\n\xff\xfe\n"},
    "a login page": {"status": 200, "headers": {"Content-Type": "text/html"}, "body": "<html>\n<form>\n"},
    "nothing": {"status": 200, "headers": {"Content-Type": "application/json"}, "body": ""},
    "another's answer": {"status": 200, "body": {"kind": "Status", "apiVersion": "v1", "status": "Success"}},
}


@pytest.mark.parametrize("answer", WRONG)
def test_answers_that_are_none_for_the_watch(greetings, answer):
    """Twice each: retried, with the cause in the state, and then all is followed; nothing is deleted on a doubt."""
    settle(greetings)
    greetings.rule(times=2, **WRONG[answer])
    greetings.proxy.cut(path=greetings.path, query=WATCH)
    greetings.change("a", "after")
    greetings.followed("a", "after", seconds=20)
    greetings.live()
    assert greetings.text("b") == "Hello, 1!" and not greetings.proxy.seen("DELETE")


@pytest.mark.parametrize("answer", WRONG)
def test_answers_that_are_none_for_the_list(greetings, answer):
    """E69: of the first list, twice each."""
    greetings.create("a", "1")
    greetings.list_rule(times=2, **WRONG[answer])
    greetings.start(live=False)
    wait_for("both answers", lambda: len(greetings.lists()) >= 2)
    greetings.live()
    greetings.followed("a", "1")
    assert not greetings.proxy.seen("DELETE")


def test_the_first_list_fails_in_several_ways(greetings):
    """E69."""
    greetings.create("a", "1")
    greetings.list_rule(nth=1, cut=True, reset=True)
    greetings.list_rule(nth=3, status=500)
    greetings.list_rule(nth=4, cut_at=40)
    greetings.start(live=False)
    greetings.live(seconds=30)
    greetings.followed("a", "1")


def test_rights_that_are_taken_away(greetings):
    """E71: degraded until they are back, asked for at growing distances."""
    settle(greetings, "a")
    refusal = {"status": 403, "body": status_of(403, "Forbidden", "greetings.demo.operator is forbidden")}
    greetings.rule(**refusal)
    greetings.list_rule(**refusal)
    cut = time.monotonic()
    greetings.proxy.cut(path=greetings.path, query=WATCH)
    worker = wait_for("forbidden", lambda: greetings.worker()["state"] == "forbidden" and greetings.worker())
    assert "greetings" in worker["cause"]
    assert greetings.site.http("/readyz")[0] == 503
    time.sleep(max(0.0, 6 - (time.monotonic() - cut)))
    asked = [request for request in greetings.proxy.seen(path=greetings.path, since=cut)]
    assert 2 <= len(asked) <= 6, asked
    greetings.proxy.clear()
    greetings.change("a", "after")
    greetings.live(seconds=35)
    greetings.followed("a", "after")
    assert greetings.site.http("/readyz")[0] == 200


def test_a_dead_server_is_asked_seldom(greetings):
    """Each of the two resources at most ten times in 30 s, which with doubled delays are at most six in the first 10 s; found again within 30 s."""
    greetings.create("a", "1")
    greetings.proxy.fault_connections("reset")
    greetings.start(live=False)
    wait_for("the first attempt", lambda: greetings.proxy.connections > 0)
    wait_for("unreachable", lambda: greetings.worker()["state"] == "unreachable")
    time.sleep(10)
    assert 2 <= greetings.proxy.connections <= 12
    assert len(greetings.site.operatord.log().splitlines()) < 60
    greetings.proxy.clear()
    greetings.live(seconds=40)
    greetings.followed("a", "1")


def test_a_resource_that_goes_for_a_while(greetings):
    """E239: 404 to all of it; few lines, nothing deleted, and it goes on when it is back."""
    settle(greetings, "a")
    before = len(greetings.site.operatord.log().splitlines())
    greetings.proxy.add(Rule(path="/apis/demo.operator/v1", status=404, headers={"Content-Type": "text/plain"}, body="404 page not found\n"))
    greetings.proxy.cut(path=greetings.path, query=WATCH)
    wait_for("missing", lambda: greetings.worker()["state"] == "crd-missing")
    time.sleep(6)
    assert len(greetings.site.operatord.log().splitlines()) - before < 40
    assert not greetings.proxy.seen("DELETE")
    greetings.proxy.clear()
    greetings.change("a", "after")
    greetings.live(seconds=35)
    greetings.followed("a", "after")


# What is known


def test_nothing_is_written_for_what_did_not_change(greetings):
    """E81: a list whose objects have the versions that are known."""
    settle(greetings)
    greetings.quiet(3)
    greetings.objects.kube.create(greetings.objects.configmap(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}})
    since = time.monotonic()
    greetings.rule(nth=1, **EXPIRED["event Gone"])
    greetings.proxy.cut(path=greetings.path, query=WATCH)
    wait_for("the second list", lambda: len(greetings.lists()) == 2)
    greetings.live()
    time.sleep(1)
    assert not [request for request in greetings.proxy.requests if request.time > since and request.method != "GET"]


def test_lines_that_come_twice(greetings):
    """Events that the server repeats, also the ADDED of what is known: handled once, and nothing is written for them."""
    greetings.rule(repeat={number: 3 for number in range(50)})
    settle(greetings, "ab")
    greetings.change("a", "2")
    greetings.followed("a", "2")
    greetings.quiet(2)
    greetings.delete("b")
    wait_for("b forgotten", lambda: greetings.site.metric("operatord_objects", controller="greeting") == 1)
    assert len(greetings.lists()) == 1
    applies = greetings.proxy.seen("PATCH", "/configmaps/a$")
    assert len(applies) <= 2, applies


def test_lines_that_are_no_events(greetings):
    """A line of rubbish leads to a new list; the lines before it count."""
    greetings.rule(nth=1, inject={3: ["{\"type\":\"ADDED\",\"object\":"]})
    greetings.start()
    for i in range(5):
        greetings.create(f"g{i}", str(i))
    for i in range(5):
        greetings.followed(f"g{i}", str(i))
    wait_for("it is counted", lambda: greetings.restarts("malformed") == 1)
    assert len(greetings.lists()) == 2


def test_changes_that_a_dead_watch_lost(greetings):
    """A watch that is open and gives nothing but bookmarks of the server: E61's cousin, where only the list tells. It is listed when the server says 410."""
    settle(greetings)
    greetings.rule(nth=1, drop="all", inject={2: [gone()]})
    number = len(greetings.watches())
    greetings.proxy.cut(path=greetings.path, query=WATCH)
    greetings.reopened(number)
    greetings.delete("a")
    greetings.delete("b")
    greetings.delete("c")
    wait_for("all forgotten", lambda: greetings.site.metric("operatord_objects", controller="greeting") == 0)


def test_streaming_lists_are_not_asked_for(greetings):
    """E77: a server that takes sendInitialEvents and never says that they are over can't hold a worker up."""
    settle(greetings, "a")
    assert not greetings.proxy.seen(query={"sendInitialEvents": ".*"})
