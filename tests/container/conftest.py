"""The image, a development server with the examples' CRDs, and a directory of mounts for each test."""

import itertools
import json
import os
import sys

import pytest
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
from debian import Unavailable  # noqa: E402
from kubeclient import load  # noqa: E402
from podman import Container, Podman  # noqa: E402
from programs import free_port, http_get, wait_for  # noqa: E402
from sites import EXAMPLES, NAMESPACES, Objects, controllers_of, serve_crd  # noqa: E402


@pytest.fixture(scope="session")
def podman(tmp_path_factory):
    try:
        return Podman(str(tmp_path_factory.mktemp("podman")))
    except Unavailable as reason:
        pytest.skip(f"no containers here: {reason}")


_numbers = itertools.count(1)


class Pod:
    """What a kubelet would mount, and the container that sees it."""

    def __init__(self, podman, server, directory):
        self.podman, self.directory = podman, str(directory)
        self.namespace = f"container-{os.getpid()}-{next(_numbers)}"
        self.port = free_port()
        self.container = None
        server.kube.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        self.objects = Objects(server.kube, self.namespace)
        document = load(server.kubeconfig)[0]
        cluster, base = document["clusters"][0]["cluster"], os.path.dirname(server.kubeconfig)
        if "certificate-authority" in cluster:
            cluster["certificate-authority"] = os.path.join(base, cluster["certificate-authority"])
        self.cluster, self.user = document["clusters"][0]["cluster"], document["users"][0]["user"]
        self.put("credentials/kubeconfig", yaml.safe_dump(document))
        self.mounts = {"config": "/etc/operatord", "credentials": "/credentials"}
        os.makedirs(self.path("config/conf.d"))

    def path(self, name):
        return os.path.join(self.directory, name)

    def put(self, name, text, mode=0o644):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name) + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name) + ".new", mode)
        os.rename(self.path(name) + ".new", self.path(name))

    def document(self, *examples, **top):
        controllers = [{**controller, "namespaces": [self.namespace]} for name in examples for controller in controllers_of(name)]
        return json.dumps({"version": 1, "instance": self.namespace, "cluster": {"kubeconfig": "/credentials/kubeconfig"}, "heartbeat": "1s",
                           "http": {"listen": f"127.0.0.1:{self.port}"}, "controllers": controllers, **top})

    def empty_directory(self, inside):
        """As a kubelet makes an emptyDir: writable by all. None of it can be executed here."""
        name = self.path(f"empty{inside.replace('/', '-')}")
        os.mkdir(name)
        os.chmod(name, 0o777)
        return "--volume", f"{name}:{inside}:rw,noexec"

    def start(self, *options, **more):
        for directory, inside in self.mounts.items():
            options += ("--volume", f"{self.path(directory)}:{inside}:ro")
        self.container = Container(self.podman, self.directory, self.namespace, *options, **more)
        return self.container

    def http(self, path):
        return http_get(f"http://127.0.0.1:{self.port}{path}")

    def wait_ready(self, seconds=20):
        def ready():
            assert self.container.running(), self.container.tail()
            return self.http("/readyz")[0] == 200
        wait_for("/readyz answers 200", ready, seconds)

    def greet(self, name):
        """Creates a Greeting, and waits for its child."""
        self.objects.create(self.objects.greeting(), "Greeting", name)
        return wait_for(f"the child of {name}", lambda: self.objects.kube.get_or_none(self.objects.configmap(name)))


@pytest.fixture
def pod(podman, server, tmp_path):
    for name in ("greeting", "nginx"):
        serve_crd(server.kube, load(f"{EXAMPLES}/crds/{name}.yaml")[0])
    tmp_path.chmod(0o755)
    made = Pod(podman, server, tmp_path)
    yield made
    if made.container:
        made.container.remove()
