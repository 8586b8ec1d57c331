"""Who the server is, on every way to it: names, authorities, versions of TLS, proxies; and certificates that change while operatord runs."""

import os
import shutil
import ssl

import pytest

from faultproxy import Authority, ForwardProxy
from programs import wait_for
from sites import controllers_of


@pytest.fixture
def greeting(site, objects, proxy):
    """Starts operatord on a kubeconfig, and says whether what it does arrives."""
    class Greeting:
        def start(self, kubeconfig, **defaults):
            site.write(site.main(controllers_of("greeting"), defaults=defaults))
            site.start(kubeconfig=kubeconfig)

        def works(self, name, seconds=20):
            objects.create(objects.greeting(), "Greeting", name, spec={"audience": name})
            wait_for(f"the text of {name}", lambda: objects.kube.get(objects.configmap(name))["data"]["greeting"] == f"Hello, {name}!", seconds)

        def refused(self, words):
            """Not reached, with the cause in words, and not a request sent."""
            worker = wait_for("the cause", lambda: site.operatord.workers()["greeting"]["state"] == "unreachable"
                              and site.operatord.workers()["greeting"])
            assert any(word in worker["cause"] for word in words), worker
            assert not proxy.requests
            assert site.http("/readyz")[0] == 503
    yield Greeting()
    site.close()  # before the proxy goes


def test_the_name_of_tls_server_name(greeting, proxy):
    """E37: asked for by SNI and verified, while the connection goes to the server's address."""
    proxy.use(*proxy.authority.server(["DNS:other.test"]))
    proxy.use(*proxy.authority.server(["DNS:api.test"]), names=["api.test"])
    greeting.start(proxy.kubeconfig(cluster={"tls-server-name": "api.test"}))
    greeting.works("a")
    assert set(proxy.seen_names) == {"api.test"}
    assert proxy.requests[0].headers["host"] == f"127.0.0.1:{proxy.port}"


WRONG = {
    "another name": (["DNS:api.test"], {}, ["subject name", "alternative", "certificate"]),
    "a name in the common name alone": (["DNS:nothing.test"], {}, ["subject name", "alternative", "certificate"]),
    "another tls-server-name": (["IP:127.0.0.1"], {"tls-server-name": "api.test"}, ["subject name", "alternative", "certificate"]),
}


@pytest.mark.parametrize("through", [None, "http", "socks5"])
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_name_is_refused_on_every_way(greeting, proxy, case, through):
    """E37, E39: with a proxy as without."""
    names, cluster, words = WRONG[case]
    proxy.use(*proxy.authority.server(names, common_name="127.0.0.1"))
    with ForwardProxy() as forward:
        if through:
            cluster = {**cluster, "proxy-url": forward.url(through)}
        greeting.start(proxy.kubeconfig(cluster=cluster))
        greeting.refused(words)
        assert bool(forward.targets) == bool(through)


def test_another_authority_is_refused(greeting, proxy, tmp_path):
    """E47."""
    proxy.use(*Authority(tmp_path).server())
    greeting.start(proxy.kubeconfig())
    greeting.refused(["certificate"])


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_old_versions_of_tls_are_refused(greeting, proxy, version):
    proxy.use(*proxy.authority.server(), maximum=version)
    greeting.start(proxy.kubeconfig())
    greeting.refused(["protocol", "version", "alert", "SSL"])


def test_insecure_is_what_it_says(greeting, proxy, tmp_path):
    """E35: no authority, and none that would fit."""
    proxy.use(*Authority(tmp_path).server(["DNS:other.test"]))
    greeting.start(proxy.kubeconfig(cluster={"certificate-authority-data": None, "insecure-skip-tls-verify": True}))
    greeting.works("a")


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_every_connection_goes_through_the_proxy(greeting, proxy, kind):
    """E39: watches, reads and writes; the name is the proxy's to resolve."""
    proxy.use(*proxy.authority.server(["DNS:api.test"]))
    with ForwardProxy(resolve={"api.test": "127.0.0.1"}) as forward:
        greeting.start(proxy.kubeconfig(cluster={"server": f"https://api.test:{proxy.port}", "proxy-url": forward.url(kind)}))
        greeting.works("a")
        assert set(forward.targets) == {f"api.test:{proxy.port}"}
        # One that is being made is known to the first before the second; one that went by would stay unknown to it.
        wait_for("as many connections at the one as at the other", lambda: len(forward.targets) == proxy.connections)


def test_a_proxy_that_wants_credentials(greeting, proxy, site):
    """Given in the URL they are sent, and seen nowhere."""
    with ForwardProxy(credentials="me:not-for-logs") as forward:
        greeting.start(proxy.kubeconfig(cluster={"proxy-url": forward.url("http")}))
        greeting.works("a")
        assert forward.targets
    assert "not-for-logs" not in site.operatord.log()


def test_a_proxy_that_is_not_there(greeting, proxy):
    """E39: never past it."""
    forward = ForwardProxy()
    url = forward.url("http")
    forward.do(forward.stop_listening())
    forward.close()
    greeting.start(proxy.kubeconfig(cluster={"proxy-url": url}))
    greeting.refused(["connect", "proxy"])
    assert proxy.connections == 0


def replace(path, source):
    shutil.copy(source, path + ".new")
    os.chmod(path + ".new", 0o600)
    os.rename(path + ".new", path)


def test_an_authority_that_changes(greeting, proxy, site, tmp_path):
    """The server gets a certificate of a new authority, the file follows later: used without a restart."""
    path = str(tmp_path / "ca.pem")
    replace(path, proxy.authority.certificate)
    greeting.start(proxy.kubeconfig(cluster={"certificate-authority-data": None, "certificate-authority": path}))
    greeting.works("a")
    pid = site.pids()["greeting"]
    new = Authority(tmp_path)
    proxy.use(*new.server())
    proxy.cut()
    wait_for("not trusted", lambda: site.operatord.workers()["greeting"]["state"] == "unreachable")
    replace(path, new.certificate)
    greeting.works("b", seconds=40)
    assert site.pids()["greeting"] == pid


def test_a_client_certificate_that_changes(greeting, proxy, site, tmp_path):
    """The server wants another one from now on: read anew when it refuses, without a restart."""
    certificate, key = str(tmp_path / "client.pem"), str(tmp_path / "client.key")

    def install(name):
        for path, source in zip((certificate, key), proxy.authority.client(name)):
            replace(path, source)
    install("first")
    proxy.use(*proxy.authority.server(), client_authority=proxy.authority.certificate)
    proxy.accept = {"CN=first": proxy.token()}
    greeting.start(proxy.kubeconfig(user={"client-certificate": certificate, "client-key": key}))
    greeting.works("a")
    pid = site.pids()["greeting"]
    proxy.accept = {"CN=second": proxy.token()}
    install("second")
    greeting.works("b", seconds=40)
    assert site.pids()["greeting"] == pid
