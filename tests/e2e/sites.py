"""What the end-to-end tests share: CRDs served, an operatord with its configuration, the test's namespace as the administrator sees it."""

import copy
import json
import os

from kubeclient import load, path_of
from programs import Failed, Operatord, free_port, http_get, wait_for

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(TOP, "examples")
CRDS = path_of("customresourcedefinitions", "apiextensions.k8s.io/v1")
NAMESPACES = path_of("namespaces", "v1")


def established(kube, name):
    crd = kube.get_or_none(f"{CRDS}/{name}")
    conditions = (crd or {}).get("status", {}).get("conditions") or []
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def serve_crd(kube, crd):
    """Creates a CRD unless it is there, and waits until its objects can be listed."""
    name = crd["metadata"]["name"]
    if kube.get_or_none(f"{CRDS}/{name}") is None:
        kube.create(CRDS, crd)
    wait_for(f"CRD {name} established", lambda: established(kube, name))
    spec = crd["spec"]
    path = path_of(spec["names"]["plural"], f"{spec['group']}/{spec['versions'][0]['name']}")
    wait_for(f"{path} served", lambda: kube.get(path) is not None)


def controllers_of(example):
    return copy.deepcopy(load(f"{EXAMPLES}/{example}.yaml")[0]["controllers"])


class Site:
    """A directory with a configuration, and the operatord that runs on it."""

    def __init__(self, build, server, directory, namespace):
        self.build, self.server, self.namespace = build, server, namespace
        self.directory = str(directory)
        self.config = os.path.join(self.directory, "operatord.yaml")
        self.port = free_port()
        self.operatord = None
        os.mkdir(os.path.join(self.directory, "conf.d"), 0o755)

    def main(self, controllers, **top):
        """The main file's document; each controller looks at the test's namespace only."""
        for controller in controllers:
            controller.setdefault("namespaces", [self.namespace])
        document = {"version": 1, "instance": self.namespace, "http": {"listen": f"127.0.0.1:{self.port}"},
                    "log": {"level": "debug", "format": "json"}, "heartbeat": "1s", "controllers": controllers}
        document.update(top)
        return document

    def write(self, document, name="operatord.yaml"):
        """JSON is YAML: the documents of tests are written as such; text goes as it is."""
        path = os.path.join(self.directory, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document, indent=1))
        os.chmod(path + ".new", 0o644)
        os.rename(path + ".new", path)
        return path

    def drop(self, name, controllers):
        """A file in conf.d."""
        for controller in controllers:
            controller.setdefault("namespaces", [self.namespace])
        return self.write({"version": 1, "controllers": controllers}, f"conf.d/{name}")

    def start(self, *live, kubeconfig=None, arguments=(), environment=None, stderr=None):
        self.operatord = Operatord(self.build, self.directory, self.config, *arguments,
                                   kubeconfig=kubeconfig or self.server.kubeconfig, environment=environment, stderr=stderr)
        if live:
            self.operatord.wait_live(*live)
        return self.operatord

    def http(self, path):
        return http_get(f"http://127.0.0.1:{self.port}{path}")

    def metric(self, name, **labels):
        """The sum of a metric's samples that carry these labels."""
        total = 0.0
        for line in self.http("/metrics")[1].splitlines():
            if line.startswith(name + "{") or line.startswith(name + " "):
                if all(f'{key}="{value}"' in line for key, value in labels.items()):
                    total += float(line.rsplit(" ", 1)[1])
        return total

    def writes(self):
        """Requests of the workers that change something on the server."""
        return sum(self.metric("rest_client_requests_total", method=method) for method in ("POST", "PUT", "PATCH", "DELETE"))

    def pids(self):
        return {name: worker["pid"] for name, worker in self.operatord.workers().items()}

    def close(self):
        if self.operatord is not None and self.operatord.running():
            code = self.operatord.stop()
            if code != 0:
                raise Failed(f"operatord left with {code}:\n{self.operatord.tail()}")


class Objects:
    """The test's namespace through the administrator's eyes: paths of the resources that the tests use."""

    def __init__(self, kube, namespace):
        self.kube, self.namespace = kube, namespace

    def path(self, plural, api_version, name=None):
        return path_of(plural, api_version, self.namespace, name)

    def nginx(self, name=None):
        return self.path("nginx", "stable.underneathall.com/v1", name)

    def uuid(self, name=None):
        return self.path("uuid", "demo.operator/v1", name)

    def uuidtoken(self, name=None):
        return self.path("uuidtokens", "demo.operator/v1", name)

    def greeting(self, name=None):
        return self.path("greetings", "demo.operator/v1", name)

    def edge(self, name=None):
        return self.path("edges", "demo.operator/v1", name)

    def deployment(self, name=None):
        return self.path("deployments", "apps/v1", name)

    def configmap(self, name=None):
        return self.path("configmaps", "v1", name)

    def create_nginx(self, name, spec=None):
        body = {"apiVersion": "stable.underneathall.com/v1", "kind": "Nginx", "metadata": {"name": name}}
        if spec is not None:
            body["spec"] = spec
        return self.kube.create(self.nginx(), body)

    def create(self, path, kind, name, labels=None, **more):
        metadata = {"name": name, "labels": labels} if labels else {"name": name}
        return self.kube.create(path, {"apiVersion": "demo.operator/v1", "kind": kind, "metadata": metadata, **more})

    def condition(self, path, kind="Ready"):
        """The condition of an object, {} while it has none."""
        found = (self.kube.get(path).get("status") or {}).get("conditions") or []
        return next((c for c in found if c["type"] == kind), {})
