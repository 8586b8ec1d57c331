"""Credentials that end, change, or are half there, through a proxy that accepts what the test says."""

import json
import os

import pytest

from faultproxy import Authority
from faultproxy.certificates import text_of
from programs import wait_for
from sites import controllers_of

API = "client.authentication.k8s.io/v1"


@pytest.fixture
def worker(site, objects, proxy):
    """operatord on a user of the test's."""
    class Worker:
        def start(self, user, **cluster):
            site.write(site.main(controllers_of("greeting")))
            site.start(kubeconfig=proxy.kubeconfig(user=user, cluster=cluster))

        def entry(self):
            return site.operatord.workers()["greeting"]

        def state(self, wanted, seconds=20):
            return wait_for(wanted, lambda: self.entry()["state"] == wanted and self.entry(), seconds)

        def works(self, name, seconds=30):
            objects.create(objects.greeting(), "Greeting", name, spec={"audience": name})
            wait_for(f"the text of {name}", lambda: objects.kube.get(objects.configmap(name))["data"]["greeting"] == f"Hello, {name}!", seconds)
    yield Worker()
    site.close()  # before the proxy goes


def write(directory, name, text, mode=0o600):
    path = os.path.join(str(directory), name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path + ".new", mode)
    os.rename(path + ".new", path)
    return path


class Program:
    """A program of the kubeconfig that prints what `answer` holds, and counts how often it is asked."""

    def __init__(self, directory):
        self.directory = str(directory)
        command = write(directory, "program", '#!/bin/sh\ncd "$(dirname "$0")" || exit 9\necho x >> runs\nexec cat answer\n', 0o755)
        self.user = {"exec": {"apiVersion": API, "interactiveMode": "Never", "command": command}}

    def answer(self, **status):
        write(self.directory, "answer", json.dumps({"kind": "ExecCredential", "apiVersion": API, "status": status}))

    def runs(self):
        try:
            return text_of(os.path.join(self.directory, "runs")).count("x")
        except FileNotFoundError:
            return 0


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


@pytest.mark.parametrize("half", ["clientCertificateData", "clientKeyData"])
def test_half_a_pair_is_no_credential(worker, program, proxy, half):
    """E21: a certificate without its key, or a key alone, is refused in words, and nothing goes out without them."""
    certificate, key = map(text_of, proxy.authority.client("me"))
    program.answer(**{half: certificate if half == "clientCertificateData" else key})
    worker.start(program.user)
    cause = wait_for("the cause", lambda: worker.entry()["cause"] if "client key" in worker.entry()["cause"] else None)
    assert "client certificate" in cause and "client key" in cause, cause
    assert not proxy.requests
    program.answer(clientCertificateData=certificate, clientKeyData=key)
    proxy.use(*proxy.authority.server(), client_authority=proxy.authority.certificate)
    proxy.accept = {"CN=me": proxy.token()}
    worker.works("a")


def test_a_token_of_a_program_that_dies(worker, program, proxy, site):
    """E23: it has no expiry and is refused one day: the program runs again, and what waited goes on."""
    proxy.accept = {"Bearer first": proxy.token()}
    program.answer(token="first")
    worker.start(program.user)
    worker.works("a")
    before = program.runs()
    program.answer(token="second")
    proxy.accept = {"Bearer second": proxy.token()}
    proxy.cut()
    worker.works("b")
    assert program.runs() > before
    assert program.runs() <= before + 3
    text = site.operatord.log()
    assert '"first"' not in text and "Bearer" not in text


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "  \n"], ids=["bare", "LF", "CRLF", "blanks"])
def test_a_token_file_that_changes(worker, proxy, site, tmp_path, end):
    """E27: read anew when its token is refused; white space at its end is none of it."""
    path = write(tmp_path, "token", "first" + end)
    proxy.accept = {"Bearer first": proxy.token()}
    worker.start({"tokenFile": path})
    worker.works("a")
    pid = site.pids()["greeting"]
    proxy.accept = {"Bearer second": proxy.token()}
    write(tmp_path, "token", "second" + end)
    proxy.cut()
    worker.works("b")
    assert site.pids()["greeting"] == pid


def test_refused_for_ever(worker, proxy, site):
    """E233: named and not healthy, asked at growing distances, and well again when the server thinks better of it."""
    proxy.accept = {}
    worker.start({"token": "not-for-logs"})
    entry = worker.state("unauthorized")
    assert entry["cause"].startswith("kubeconfig "), entry
    assert site.http("/readyz")[0] == 503
    wait_for("a few attempts", lambda: len(proxy.requests) >= 4)
    assert "not-for-logs" not in site.operatord.log()
    proxy.accept = {"Bearer not-for-logs": proxy.token()}
    worker.works("a", seconds=40)
    assert site.http("/readyz")[0] == 200


def test_nobody(worker, proxy):
    """E11: a user without credentials sends none, and is told so by the server."""
    proxy.accept = {}
    worker.start({})
    worker.state("unauthorized")
    assert all("authorization" not in request.headers for request in proxy.requests)
    proxy.accept = {"": proxy.token()}
    worker.works("a", seconds=40)


def test_a_refused_token_while_the_watch_runs(worker, proxy, site):
    """The server forgets the token for writes alone: the object says so, and nothing is lost when it remembers."""
    proxy.accept = {"Bearer mine": proxy.token()}
    worker.start({"token": "mine"})
    worker.works("a")
    proxy.accept = {}
    with pytest.raises(AssertionError):
        worker.works("b", seconds=2)
    proxy.accept = {"Bearer mine": proxy.token()}
    worker.works("c", seconds=40)


@pytest.mark.parametrize("prefix", ["/k8s/clusters/c-1", "/k8s/clusters/c-1/"])
def test_a_server_below_a_path(worker, proxy, prefix):
    """E29, E31: the path is there once in each request, and nothing is doubled."""
    proxy.prefix = prefix.rstrip("/")
    worker.start({"token": proxy.token().split()[1]}, server=proxy.url + prefix)
    worker.works("a")
    for request in proxy.requests:
        assert request.path.startswith(proxy.prefix + "/") and request.path.count(proxy.prefix) == 1 and "//" not in request.path


def test_another_authoritys_client_certificate(worker, proxy, site, tmp_path):
    """A server that ends the handshake on it: said as such."""
    certificate, key = Authority(tmp_path).client("stranger")
    proxy.use(*proxy.authority.server(), client_authority=proxy.authority.certificate)
    worker.start({"client-certificate": certificate, "client-key": key})
    entry = worker.state("unreachable")
    assert "alert" in entry["cause"] or "SSL" in entry["cause"] or "TLS" in entry["cause"], entry
    assert not proxy.requests
