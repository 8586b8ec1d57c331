"""A kubeconfig means to operatord what it means to kubectl: both are given the same one, and a witness tells who came and how.

Where they part, the table says in which way and why: STRICTER is refused here although kubectl goes on (mostly as somebody else than was
meant), WIDER works here and not in kubectl.
"""

import base64
import json
import os
import subprocess

import pytest
import yaml

from kubeclient import load
from programs import wait_for
from sites import controllers_of
from witness import Witness

SAME, STRICTER, WIDER = "same", "stricter", "wider"
V1, V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"
PROGRAM = """#!/bin/sh
cat <<END
{"kind": "ExecCredential", "apiVersion": "$VERSION", "status": {"token": "from-exec-$1$EXTRA"}}
END
"""
# What a program is told is its token: base64 without what a header can't hold.
TELLING = """#!/bin/sh
told=$(printf %s "$KUBERNETES_EXEC_INFO" | python3 -c 'import base64, json, sys; print(base64.b64encode(json.dumps(json.load(sys.stdin),
 sort_keys=True).encode()).decode())')
printf '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "%s"}}' "$told"
"""


@pytest.fixture(scope="module")
def witness(tmp_path_factory):
    made = Witness(tmp_path_factory.mktemp("witness"))
    yield made
    made.close()


@pytest.fixture
def place(witness, tmp_path):
    """A directory with what kubeconfigs name by relative paths."""
    for name in ("ca.pem", "client.pem", "client.key"):
        os.symlink(witness.path(name), tmp_path / name)
    files = {"token": "in-a-file\n", "blank": " \n", "tool": PROGRAM, "teller": TELLING, "two.pem": "# words\n" + read(witness, "ca.pem") * 2}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for name in ("tool", "teller"):
        (tmp_path / name).chmod(0o755)
    return tmp_path


def read(witness, name):
    with open(witness.path(name), encoding="ascii") as file:
        return file.read()


def data(witness, name):
    return base64.b64encode(read(witness, name).encode()).decode()


def document(witness, cluster=None, user=None, context=None, **top):
    made = {"apiVersion": "v1", "kind": "Config", "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", **(context or {})}}],
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{witness.port}", "certificate-authority": "ca.pem",
                                                   **(cluster or {})}}],
            "users": [{"name": "u", "user": user or {}}]}
    made.update(top)
    return {key: value for key, value in made.items() if value is not None}


def program(version=V1, **more):
    return {"exec": {"apiVersion": version, "command": "./tool", "args": ["a"], "interactiveMode": "Never",
                     "env": [{"name": "VERSION", "value": version}], **more}}


def ask(arguments, directory, paths, environment):
    """Without a terminal, from a directory that no path is relative to."""
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, cwd="/",
                          env={"PATH": os.environ["PATH"], "HOME": str(directory), "KUBECONFIG": ":".join(paths), **environment})


def both(kubectl_program, build, witness, place, *texts, environment=None):
    """(what the witness saw of kubectl, what it saw of operatord's client, what the latter said)"""
    paths = []
    for number, text in enumerate(texts):
        if text is None or isinstance(text, os.PathLike):
            paths.append(str(text or ""))
            continue
        paths.append(str(place / f"config{number}"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(text if isinstance(text, str) else yaml.safe_dump(text))
    witness.take()
    kubectl = ask([*kubectl_program, "get", "--raw", "/version"], place, paths, environment or {})
    theirs = witness.take()
    ours = ask([os.path.join(build, "operatorctl"), "list", "greetings.v1.demo.operator", "--control", "/none"], place, paths,
               environment or {})
    return theirs, witness.take(), ours.stderr + "\nkubectl: " + kubectl.stderr


def cluster(**members):
    return lambda w: document(w, {key: value(w) if callable(value) else value for key, value in members.items()}, {"token": "t"})


def user(**members):
    return lambda w: document(w, user={key: value(w) if callable(value) else value for key, value in members.items()})


def plain(**members):
    return lambda w: document(w, {"server": f"http://127.0.0.1:{w.plain_port}", "certificate-authority": None}, members)


def text(change):
    return lambda w: change(yaml.safe_dump(document(w, user={"token": "t"})))


def secret(name):
    return lambda w: data(w, name)


def port(pattern, which="port"):
    return lambda w: pattern.format(getattr(w, which))


CASES = {
    # clusters
    "relative authority": (SAME, cluster()),  # E1
    "authority in the text": (SAME, cluster(**{"certificate-authority": None, "certificate-authority-data": secret("ca.pem")})),
    "authority in lines": (SAME, cluster(**{"certificate-authority": None, "certificate-authority-data":
                                            lambda w: "\n".join(data(w, "ca.pem")[i:i + 64] for i in range(0, 2000, 64)).strip()})),
    "authority without padding": (SAME, cluster(**{"certificate-authority": None, "certificate-authority-data":
                                                   lambda w: "QQ"})),  # E47
    "several authorities and words": (SAME, cluster(**{"certificate-authority": "two.pem"})),
    "no authority": (SAME, cluster(**{"certificate-authority": None})),
    "authority twice": (WIDER, cluster(**{"certificate-authority": "no-such", "certificate-authority-data": secret("ca.pem")})),
    "authority that is none": (SAME, cluster(**{"certificate-authority": "token"})),
    "authority missing": (SAME, cluster(**{"certificate-authority": "no-such"})),
    "insecure": (SAME, cluster(**{"certificate-authority": None, "insecure-skip-tls-verify": True})),  # E35
    "insecure, in words": (SAME, text(lambda t: t.replace("certificate-authority: ca.pem", "insecure-skip-tls-verify: on"))),
    "secure, in words": (SAME, text(lambda t: t.replace("certificate-authority: ca.pem", "insecure-skip-tls-verify: No"))),
    "insecure and an authority": (SAME, cluster(**{"insecure-skip-tls-verify": True})),
    "insecure as text": (SAME, cluster(**{"insecure-skip-tls-verify": "true"})),
    "slash at the end": (SAME, cluster(server=port("https://127.0.0.1:{}/"))),  # E31
    "prefix": (SAME, cluster(server=port("https://127.0.0.1:{}/k8s/clusters/c-1"))),  # E29
    "prefix with a slash": (SAME, cluster(server=port("https://127.0.0.1:{}/k8s/clusters/c-1/"))),
    "scheme in capitals": (SAME, cluster(server=port("HTTPS://127.0.0.1:{}"))),
    "no scheme, an authority": (SAME, cluster(server=port("127.0.0.1:{}"))),
    "no scheme, insecure": (SAME, cluster(**{"server": port("127.0.0.1:{}"), "certificate-authority": None,
                                             "insecure-skip-tls-verify": True})),
    "no scheme, a prefix": (SAME, cluster(server=port("127.0.0.1:{}/a"))),
    "no scheme, nothing": (SAME, lambda w: document(w, {"server": f"127.0.0.1:{w.plain_port}", "certificate-authority": None})),
    "no server": (SAME, cluster(server=None)),
    "another name": (SAME, cluster(**{"server": port("https://localhost:{}")})),
    "tls-server-name": (SAME, cluster(**{"server": port("https://127.0.0.1:{}"), "tls-server-name": "api.test"})),  # E37
    "tls-server-name of an address": (SAME, cluster(**{"server": port("https://localhost:{}"), "tls-server-name": "127.0.0.1"})),
    "tls-server-name that is another": (SAME, cluster(**{"tls-server-name": "other.test"})),
    "disable-compression": (SAME, cluster(**{"disable-compression": True})),
    "unknown members": (SAME, cluster(new=["a"], extensions=[{"name": "a", "extension": {"b": 1}}])),
    "proxy": (SAME, cluster(**{"server": port("https://api.test:{}"), "proxy-url": port("http://127.0.0.1:{}", "connect_port")})),  # E39
    "proxy with a password": (SAME, cluster(**{"proxy-url": port("http://me:p%40ss@127.0.0.1:{}", "connect_port")})),
    "proxy with a slash": (SAME, cluster(**{"proxy-url": port("http://127.0.0.1:{}/", "connect_port")})),
    "proxy by socks": (SAME, cluster(**{"server": port("https://api.test:{}"), "proxy-url": port("socks5://127.0.0.1:{}", "socks_port")})),
    "proxy by socks with a password": (SAME, cluster(**{"proxy-url": port("socks5://me:pass@127.0.0.1:{}", "socks_port")})),
    "proxy by TLS": (SAME, cluster(**{"server": port("https://api.test:{}"), "proxy-url": port("https://127.0.0.1:{}", "secure_connect_port")})),
    "proxy by TLS, insecure": (SAME, cluster(**{"proxy-url": port("https://127.0.0.1:{}", "secure_connect_port"),
                                                "certificate-authority": None, "insecure-skip-tls-verify": True})),
    "proxy by TLS that nobody vouches for": (SAME, cluster(**{"proxy-url": port("https://127.0.0.1:{}", "secure_connect_port"),
                                                              "certificate-authority": None})),
    "proxy and tls-server-name": (SAME, cluster(**{"server": port("https://elsewhere:{}"), "tls-server-name": "api.test",
                                                   "proxy-url": port("http://127.0.0.1:{}", "connect_port")})),
    "proxy of another kind": (SAME, cluster(**{"proxy-url": "ftp://127.0.0.1:1"})),
    "proxy without a scheme": (SAME, cluster(**{"proxy-url": "127.0.0.1:1"})),
    "password in the server's URL": (STRICTER, cluster(server=port("https://a:b@127.0.0.1:{}"))),
    # users
    "nobody": (SAME, user()),
    "no user named": (SAME, lambda w: document(w, context={"user": None})),  # E11
    "a user that is not there": (SAME, lambda w: document(w, context={"user": "other"}, user={"token": "t"})),
    "users: null": (SAME, lambda w: {**document(w), "users": None}),
    "token": (SAME, user(token="abc")),
    "token that is a number": (SAME, user(token=12345)),
    "token, blank": (SAME, user(token="")),
    "token with a line break": (SAME, user(token="abc\n")),
    "tokenFile": (SAME, user(tokenFile="token")),  # E27
    "tokenFile that is not there": (SAME, user(tokenFile="no-such")),
    "token and tokenFile": (SAME, user(token="abc", tokenFile="token")),
    "token and a tokenFile that is not there": (SAME, user(token="abc", tokenFile="no-such")),
    "token and a blank tokenFile": (SAME, user(token="abc", tokenFile="blank")),
    "password": (SAME, user(username="jane", password="s:ecret")),
    "username alone": (SAME, user(username="jane")),
    "token and password": (SAME, user(token="abc", username="jane", password="b")),
    "tokenFile and password": (SAME, user(tokenFile="token", username="jane", password="b")),
    "password alone": (STRICTER, user(password="b")),
    "certificate": (SAME, user(**{"client-certificate": "client.pem", "client-key": "client.key"})),
    "certificate in the text": (SAME, user(**{"client-certificate-data": secret("client.pem"), "client-key-data": secret("client.key")})),
    "certificate twice": (WIDER, user(**{"client-certificate-data": secret("client.pem"), "client-key-data": secret("client.key"),
                                         "client-certificate": "no-such", "client-key": "no-such"})),
    "certificate and token": (SAME, user(**{"client-certificate": "client.pem", "client-key": "client.key", "token": "abc"})),
    "certificate and password": (SAME, user(**{"client-certificate": "client.pem", "client-key": "client.key", "username": "a"})),
    "certificate without a key": (SAME, user(**{"client-certificate": "client.pem"})),  # E21
    "key without a certificate": (STRICTER, user(**{"client-key": "client.key"})),
    "another's key": (SAME, user(**{"client-certificate": "ca.pem", "client-key": "client.key"})),
    "impersonation": (SAME, user(**{"token": "t", "as": "bob", "as-uid": "7", "as-groups": ["a", "b c"],
                                    "as-user-extra": {"acme.io/project": ["first", "second"], "Plain": ["third"]}})),
    "groups without a user": (SAME, user(**{"token": "t", "as-groups": ["a"]})),
    "uid without a user": (SAME, user(**{"token": "t", "as-uid": "a"})),
    "no TLS": (SAME, plain()),
    "no TLS, token": (SAME, plain(token="abc")),
    "no TLS, password and impersonation": (SAME, plain(username="a", password="b", **{"as": "bob"})),
    "no TLS, exec": (SAME, plain(**program())),
    # programs
    "exec": (SAME, user(**program())),
    "exec of v1beta1": (SAME, user(**program(V1BETA1))),
    "exec of v1alpha1": (SAME, user(**program("client.authentication.k8s.io/v1alpha1"))),
    "exec without a mode": (SAME, user(**program(interactiveMode=None))),  # E15
    "exec of v1beta1 without a mode": (SAME, user(**program(V1BETA1, interactiveMode=None))),
    "exec if available": (SAME, user(**program(interactiveMode="IfAvailable"))),
    "exec at a terminal": (SAME, user(**program(interactiveMode="Always"))),
    "exec in another mode": (SAME, user(**program(interactiveMode="never"))),
    "exec without args": (SAME, user(**program(args=None))),  # E13
    "exec without a command": (SAME, user(**program(command=""))),
    "exec in PATH": (SAME, user(**program(command="sh", args=["-c", "VERSION=%s %s"]))),
    "exec that is not there": (SAME, user(**program(command="no-such-tool", installHint="get it"))),
    "exec that answers for another version": (SAME, user(**program(env=[{"name": "VERSION", "value": V1BETA1}]))),
    "exec that prints more": (SAME, user(**program(env=[{"name": "VERSION", "value": V1}, {"name": "EXTRA", "value": '"}}\nmore'}]))),  # E17
    "exec and token": (SAME, user(token="abc", **program())),  # E25
    "exec and tokenFile": (SAME, user(tokenFile="token", **program())),
    "exec and password": (SAME, user(username="a", password="b", **program())),
    "exec and certificate": (SAME, user(**{"client-certificate": "client.pem", "client-key": "client.key"}, **program())),
    "exec that is told of the cluster": (SAME, lambda w: document(
        w, {"disable-compression": True, "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}}]},
        {"exec": {"apiVersion": V1, "command": "./teller", "interactiveMode": "Never", "provideClusterInfo": True}})),
    "exec that is told less": (SAME, user(exec={"apiVersion": V1, "command": "./teller", "interactiveMode": "IfAvailable"})),
    "exec that is told of a prefix": (SAME, lambda w: document(
        w, {"server": f"https://127.0.0.1:{w.port}/k8s/", "tls-server-name": "api.test"},
        {"exec": {"apiVersion": V1, "command": "./teller", "interactiveMode": "Never", "provideClusterInfo": True}})),
    "auth-provider gcp": (SAME, user(**{"auth-provider": {"name": "gcp"}})),
    "auth-provider azure": (SAME, user(**{"auth-provider": {"name": "azure", "config": {"a": "b"}}})),
    "auth-provider oidc": (STRICTER, user(**{"auth-provider": {"name": "oidc", "config": {
        "client-id": "a", "idp-issuer-url": "https://127.0.0.1:1", "id-token": "e30.eyJleHAiOjk5OTk5OTk5OTl9.e30"}}})),
    "auth-provider that is unknown": (SAME, user(**{"auth-provider": {"name": "other"}})),
    # contexts and files
    "no current-context": (SAME, lambda w: document(w, **{"current-context": None})),  # E9
    "current-context that is not there": (SAME, lambda w: document(w, **{"current-context": "y"})),
    "context without a cluster": (SAME, lambda w: document(w, context={"cluster": None})),
    "context of a cluster that is not there": (SAME, lambda w: document(w, context={"cluster": "d"})),
    "context in a namespace": (SAME, lambda w: document(w, user={"token": "t"}, context={"namespace": "ns"})),
    "no kind and version": (SAME, lambda w: document(w, user={"token": "t"}, kind=None, apiVersion=None)),
    "another kind": (SAME, lambda w: document(w, kind="ConfigMap")),
    "another version": (SAME, lambda w: document(w, apiVersion="v2")),
    "preferences and extensions": (SAME, lambda w: document(w, user={"token": "t"}, preferences={"colors": True}, extensions=[])),
    "an entry that nobody uses is broken": (WIDER, lambda w: {**document(w, user={"token": "t"}), "extensions": None, "users": [
        {"name": "v", "user": {"token": 5}}, {"name": "u", "user": {"token": "t"}}]}),  # E35
    "a name twice": (SAME, lambda w: {**document(w), "users": [{"name": "u", "user": {"token": "a"}}] * 2}),
    "JSON": (SAME, lambda w: json.dumps(document(w, user={"token": "t"}))),
    "JSON with tabs": (SAME, lambda w: json.dumps(document(w, user={"token": "t"}), indent="\t")),
    "byte order mark": (SAME, text(lambda t: "\ufeff" + t)),  # E161
    "start and end of a document": (SAME, text(lambda t: "---\n" + t + "...\n")),
    "another version of YAML by name": (STRICTER, text(lambda t: "%YAML 1.1\n---\n" + t)),
    "comments": (SAME, text(lambda t: "# head\n" + t.replace("\n", " # tail\n"))),
    "a second document": (STRICTER, text(lambda t: t + "---\napiVersion: v1\n")),
    "line ends of another system": (SAME, text(lambda t: t.replace("\n", "\r\n"))),
    "anchors": (SAME, text(lambda t: t.replace("    token: t", "    token: &a t\n- name: *a\n  user: {token: *a}"))),
    "merge keys": (SAME, text(lambda t: "base: &b {token: merged, as: bob}\n" + t.replace("    token: t", "    <<: *b\n    as: eve"))),
    "a key twice": (STRICTER, text(lambda t: t.replace("    token: t", "    token: a\n    token: t"))),  # E155
    "keys in capitals": (SAME, text(lambda t: t.replace("    token: t", "    Token: t"))),
    "not YAML": (SAME, text(lambda t: t + "a: [")),
    "empty": (SAME, lambda w: ""),
}


@pytest.mark.parametrize("name", CASES)
def test_means_the_same_as_to_kubectl(kubectl_program, build, witness, place, name):
    kind, make = CASES[name]
    theirs, ours, said = both(kubectl_program, build, witness, place, make(witness))
    if kind == STRICTER:
        assert theirs is not None and ours is None and "kubeconfig" in said.split("kubectl:")[0], said
    elif kind == WIDER:
        assert theirs is None and ours is not None, said
    else:
        assert theirs == ours, said


def without(made, *keys):
    return {key: value for key, value in made.items() if key not in keys}


LISTS = {
    "a first file without a current-context": lambda w, d: [  # E3
        without(document(w, {"certificate-authority": str(d / "ca.pem")}), "current-context", "users"),
        without(document(w, user={"token": "b"}, context={"user": "u"}), "clusters")],
    "an entry in two files": lambda w, d: [  # E5: the whole of the first
        None, {"users": [{"name": "u", "user": {"token": "first"}}]}, None,
        document(w, user={"tokenFile": "token", "as": "bob"}), None],
    "a current-context in two files": lambda w, d: [
        {"current-context": "", "contexts": [{"name": "z", "context": {"cluster": "c", "user": "v"}}]},
        {"current-context": "z", "users": [{"name": "v", "user": {"token": "of-v"}}]}, document(w, user={"token": "of-u"})],
    "a file that is missing": lambda w, d: [d / "missing", document(w, user={"token": "t"})],  # E7
    "all are missing": lambda w, d: [d / "missing", d / "missing2"],
    "a directory": lambda w, d: [document(w, user={"token": "t"}), d],
    "one that is not YAML": lambda w, d: [document(w, user={"token": "t"}), "a: ["],
    "an empty one": lambda w, d: ["", document(w, user={"token": "t"})],
    "the same twice": lambda w, d: [document(w, user={"token": "t"}), d / "config0"],
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_merge_as_in_kubectl(kubectl_program, build, witness, place, name):
    theirs, ours, said = both(kubectl_program, build, witness, place, *LISTS[name](witness, place))
    assert theirs == ours, said


def test_relative_paths_are_those_of_their_file(kubectl_program, build, witness, place):
    """E1"""
    (place / "sub").mkdir()
    (place / "sub" / "token").write_text("in-sub")
    (place / "sub" / "user").write_text(json.dumps({"users": [{"name": "u", "user": {"tokenFile": "token"}}]}))
    theirs, ours, said = both(kubectl_program, build, witness, place, place / "sub" / "user", without(document(witness), "users"))
    assert theirs == ours and ours["authorization"] == "Bearer in-sub", said


def test_an_address_of_ipv6(kubectl_program, build, witness, place):
    """E41, E43"""
    if witness.v6_port is None:
        pytest.skip("this machine has no IPv6 loopback address")
    for server in (f"https://[::1]:{witness.v6_port}", f"https://[0:0:0:0:0:0:0:1]:{witness.v6_port}/a"):
        theirs, ours, said = both(kubectl_program, build, witness, place, document(witness, {"server": server}, {"token": "t"}))
        assert theirs == ours and ours is not None, said


def test_proxies_of_the_environment_are_not_ours(kubectl_program, build, witness, place):
    """WIDER: kubectl would go by it; a service that acts otherwise by who started it is a riddle."""
    _, ours, said = both(kubectl_program, build, witness, place, document(witness, user={"token": "t"}),
                         environment={"HTTPS_PROXY": f"http://127.0.0.1:{witness.connect_port}"})
    assert ours is not None and ours["way"] is None, said


def usable(site, path):
    """The server's kubeconfig at another place, and its user."""
    document_, base = load(site.server.kubeconfig)[0], os.path.dirname(site.server.kubeconfig)
    for list_, member in (("clusters", "cluster"), ("users", "user")):
        for entry in document_[list_]:
            for key in ("certificate-authority", "client-certificate", "client-key", "tokenFile"):
                if key in entry[member]:
                    entry[member][key] = os.path.join(base, entry[member][key])
    with open(path + ".new", "w", encoding="utf-8") as file:
        yaml.safe_dump(document_, file)
    os.rename(path + ".new", path)


def messages(site, text):
    return [line for line in site.operatord.log().splitlines() if text in line]


def waiting(site, word):
    def look():
        worker = site.operatord.workers()["nginx"]
        return worker["state"] == "config-invalid" and word in worker["cause"] and worker
    return wait_for(f"config-invalid for {word}", look)


def test_a_missing_kubeconfig_is_waited_for(site):
    """In the process that is there, seen within seconds; what is wrong is said once, and again when it is another thing."""
    path = os.path.join(site.directory, "late", "kubeconfig")
    site.write(site.main(controllers_of("nginx")))
    site.start(kubeconfig=path)
    pid = waiting(site, "kubeconfig")["pid"]
    os.mkdir(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as file:
        file.write("current-context: nowhere\n")
    waiting(site, "nowhere")
    usable(site, path)
    site.operatord.wait_live("nginx", seconds=10)
    assert site.pids()["nginx"] == pid
    assert len(messages(site, "names no file that exists")) == 1
    assert len(messages(site, 'no context \\"nowhere\\"')) == 1
    assert len(messages(site, "looked at again")) == 2


def test_a_token_file_is_waited_for(site, tmp_path):
    token = tmp_path / "own" / "token"
    token.parent.mkdir()
    controllers = controllers_of("nginx")
    controllers[0]["credentials"] = {"tokenFile": str(token)}
    site.write(site.main(controllers))
    site.start()
    waiting(site, str(token))
    token.write_text("nobody\n")
    wait_for("the server's word", lambda: site.operatord.workers()["nginx"]["state"] in ("unauthorized", "live"), seconds=10)


def test_who_waits_for_a_kubeconfig_stops_at_once(site):
    site.write(site.main(controllers_of("nginx")))
    site.start(kubeconfig="/nowhere/kubeconfig")
    waiting(site, "nowhere")
    assert site.operatord.stop(5) == 0


def test_a_program_that_is_not_there_is_waited_for(site, tmp_path):
    """A program that is installed later is found at the next look."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    kubeconfig = str(tmp_path / "kubeconfig")
    usable(site, kubeconfig)
    document_ = load(kubeconfig)[0]
    document_["users"][0]["user"] = {"exec": {"apiVersion": V1, "command": "late-tool", "interactiveMode": "Never"}}
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(document_))
    site.write(site.main(controllers_of("nginx")))
    site.start(kubeconfig=kubeconfig, environment={"PATH": f"{bin_}:{os.environ['PATH']}"})
    waiting(site, "late-tool: not found in PATH")
    made = bin_ / "late-tool.new"
    made.write_text('#!/bin/sh\necho \'{"kind": "ExecCredential", "apiVersion": "%s", "status": {"token": "nobody"}}\'\n' % V1)
    made.chmod(0o755)
    made.rename(bin_ / "late-tool")
    wait_for("the server's word", lambda: site.operatord.workers()["nginx"]["state"] in ("unauthorized", "live"), seconds=10)
