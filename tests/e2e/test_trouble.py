"""Bad input and absent servers: said clearly, retried, never fatal to the others."""

import os
import socket
import subprocess

from sites import CRDS, controllers_of, serve_crd
from programs import free_port, wait_for

KUBECONFIG = """apiVersion: v1
kind: Config
current-context: here
clusters: [{{name: here, cluster: {{server: "https://127.0.0.1:{port}", insecure-skip-tls-verify: true}}}}]
contexts: [{{name: here, context: {{cluster: here, user: me}}}}]
users: [{{name: me, user: {{token: not-a-real-one}}}}]
"""


def run(site, *arguments):
    return subprocess.run([os.path.join(site.build, "operatord"), *arguments], capture_output=True, text=True, timeout=30,
                          check=False, stdin=subprocess.DEVNULL)


def test_a_broken_main_config_exits_78_with_all_its_errors(site):
    path = site.write("version: 1\ncontrollers:\n- name: Bad_Name\n  resource: nginx\n  concurency: 2\n")
    done = run(site, "-c", path)
    assert done.returncode == 78
    for line in (3, 4, 5):
        assert f"operatord.yaml:{line}:" in done.stderr, done.stderr
    assert "concurrency" in done.stderr, "a suggestion for the misspelt key"


def test_check_and_print(site):
    path = site.write(site.main(controllers_of("nginx") + controllers_of("uuid")))
    assert run(site, "-c", path, "--check").returncode == 0
    printed = run(site, "-c", path, "--check", "--print")
    assert printed.returncode == 0
    again = run(site, "-c", site.write(printed.stdout, "printed.yaml"), "--check", "--print")
    assert again.stdout == printed.stdout, again.stderr


def test_a_missing_config_is_named(site):
    done = run(site, "-c", "/nowhere/operatord.yaml")
    assert done.returncode == 78 and "/nowhere/operatord.yaml" in done.stderr


def test_a_feature_that_is_not_in_is_refused_by_name(site):
    controllers = controllers_of("nginx")
    controllers[0]["hooks"] = {"sync": {"exec": ["/bin/true"]}}
    done = run(site, "-c", site.write(site.main(controllers)), "--check")
    assert done.returncode == 78 and "hooks" in done.stderr and "not supported" in done.stderr


def test_a_kubeconfig_that_cannot_be_read_names_the_file(site):
    site.write(site.main(controllers_of("nginx")))
    missing = os.path.join(site.directory, "nothing-here")
    site.start(kubeconfig=missing)
    worker = wait_for("the cause", lambda: site.operatord.workers()["nginx"]["cause"] and site.operatord.workers()["nginx"])
    assert missing in worker["cause"], worker
    assert site.http("/readyz")[0] == 503 and site.http("/livez")[0] == 200


def test_a_kubeconfig_that_cannot_be_parsed_names_file_and_place(site):
    site.write(site.main(controllers_of("nginx")))
    bad = site.write("apiVersion: v1\nclusters: [\n", "kubeconfig-bad")
    site.start(kubeconfig=bad)
    worker = wait_for("the cause", lambda: site.operatord.workers()["nginx"]["cause"] and site.operatord.workers()["nginx"])
    assert f"{bad}:" in worker["cause"], worker


def test_an_unreachable_server_is_retried(site):
    """E167: the process stays, says so, and goes on trying."""
    site.write(site.main(controllers_of("nginx")))
    port = free_port()
    site.start(kubeconfig=site.write(KUBECONFIG.format(port=port), "kubeconfig-dead"))
    worker = wait_for("unreachable", lambda: site.operatord.workers()["nginx"]["state"] == "unreachable"
                      and site.operatord.workers()["nginx"])
    assert f"127.0.0.1:{port}" in worker["cause"]
    status, text, _ = site.http("/readyz")
    assert status == 503 and "nginx" in text and "unreachable" in text
    assert site.http("/livez")[0] == 200
    assert site.operatord.log().count("\n") < 60


def test_a_server_that_never_answers(site):
    """It is said what is being waited for; after the timeout of a request the server counts as out of reach."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        site.write(site.main(controllers_of("nginx"), defaults={"requestTimeout": "3s"}))
        site.start(kubeconfig=site.write(KUBECONFIG.format(port=silent.getsockname()[1]), "kubeconfig-silent"))
        wait_for("discovering", lambda: site.operatord.workers()["nginx"]["state"] == "discovering", seconds=2.5)
        wait_for("unreachable", lambda: site.operatord.workers()["nginx"]["state"] == "unreachable")
        assert site.operatord.stop(2) == 0


def test_a_token_that_is_not_accepted(site, server):
    """E233: named, not healthy, and no secret in the log."""
    site.write(site.main(controllers_of("nginx")))
    text = KUBECONFIG.format(port=server.kube.port)
    site.start(kubeconfig=site.write(text, "kubeconfig-wrong"))
    wait_for("unauthorized", lambda: site.operatord.workers()["nginx"]["state"] == "unauthorized")
    assert site.http("/readyz")[0] == 503
    assert "not-a-real-one" not in site.operatord.log()


def test_a_missing_crd_is_waited_for(site, server, objects):
    """E235, E237."""
    name = f"gadgets.{site.namespace}.example.com"
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
           "spec": {"group": f"{site.namespace}.example.com", "scope": "Namespaced",
                    "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"},
                    "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                                  "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
    controllers = controllers_of("greeting")
    controllers[0]["resource"] = f"gadgets.v1.{site.namespace}.example.com"
    site.write(site.main(controllers))
    site.start()
    worker = wait_for("crd-missing", lambda: site.operatord.workers()["greeting"]["state"] == "crd-missing"
                      and site.operatord.workers()["greeting"])
    assert "gadgets" in worker["cause"] and f"{site.namespace}.example.com" in worker["cause"]
    try:
        serve_crd(server.kube, crd)
        site.operatord.wait_live("greeting", seconds=40)
    finally:
        server.kube.delete(f"{CRDS}/{name}")


def test_a_trouble_is_said_once_and_names_the_credentials_here_only(site, server, objects):
    """E233: the log and the state say whose credentials were refused, once; what goes to the cluster holds no path of this machine."""
    site.write(site.main(controllers_of("nginx")))
    text = KUBECONFIG.format(port=server.kube.port)
    path = site.write(text, "kubeconfig-wrong")
    site.start(kubeconfig=path)
    worker = wait_for("unauthorized", lambda: site.operatord.workers()["nginx"]["state"] == "unauthorized"
                      and site.operatord.workers()["nginx"])
    assert worker["cause"].startswith(f"kubeconfig {path}, "), worker
    assert path in site.http("/healthz?verbose")[1]
    lines = [line for line in site.operatord.log().splitlines() if "401" in line and "failure" not in line]
    assert len(lines) == 1, lines
    assert path in lines[0]
