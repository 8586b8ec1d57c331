"""kubectl, unchanged, on the server of this run: create, get, apply, watch, delete of custom resources."""

import os

from sites import EXAMPLES
from programs import Program, wait_for

NGINX = """apiVersion: stable.underneathall.com/v1
kind: Nginx
metadata: {{name: web, namespace: {namespace}}}
spec: {{replicas: {replicas}}}
"""


def test_the_life_of_an_object(kubectl, crds, namespace):
    text = NGINX.format(namespace=namespace, replicas=2)
    assert "created" in kubectl("create", "-f", "-", text=text)
    assert "configured" in kubectl("apply", "-f", "-", text=NGINX.format(namespace=namespace, replicas=3))
    assert "unchanged" in kubectl("apply", "-f", "-", text=NGINX.format(namespace=namespace, replicas=3))
    assert kubectl("get", "nginx", "web", "-n", namespace, "-o", "jsonpath={.spec.replicas}") == "3"
    assert "serverside-applied" in kubectl("apply", "--server-side", "--force-conflicts", "-f", "-",
                                           text=NGINX.format(namespace=namespace, replicas=4))
    table = kubectl("get", "nginx", "-n", namespace)
    assert table.splitlines()[0].split()[0] == "NAME" and table.splitlines()[1].split()[0] == "web"
    assert "deleted" in kubectl("delete", "nginx", "web", "-n", namespace)
    assert kubectl("get", "nginx", "-n", namespace, "-o", "name") == ""


def test_printer_columns(kubectl, crds, namespace, server, objects):
    objects.create(objects.uuid(), "Uuid", "one")
    objects.kube.merge(objects.uuid("one"), {"status": {"state": "Ok", "uuid": "u-1", "message": "m"}})
    lines = kubectl("get", "uuid", "-n", namespace).splitlines()
    assert lines[0].split()[:3] == ["NAME", "UUID", "STATUS"]
    assert lines[1].split()[:3] == ["one", "u-1", "Ok"]
    assert kubectl("get", "id", "one", "-n", namespace, "-o", "name").strip() == "uuid.demo.operator/one"


def test_watch(kubectl_program, server, crds, namespace, objects, tmp_path):
    watch = Program(str(tmp_path), "kubectl-watch", [*kubectl_program, "get", "nginx", "-n", namespace, "--watch", "-o", "name"],
                    environment={**os.environ, "KUBECONFIG": server.kubeconfig, "HOME": str(tmp_path)})
    try:
        objects.create_nginx("seen", {"replicas": 1})
        wait_for("the watch to show it", lambda: "nginx.stable.underneathall.com/seen" in watch.log())
    finally:
        watch.process.kill()
        watch.process.wait()


def test_the_examples_apply(kubectl, server):
    kubectl("apply", "-f", f"{EXAMPLES}/crds")
    wait_for("the CRDs served", lambda: "nginx" in kubectl("api-resources", "-o", "name"))
    kubectl("apply", "-f", f"{EXAMPLES}/objects")
    kubectl("delete", "-f", f"{EXAMPLES}/objects")
