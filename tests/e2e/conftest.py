"""Fixtures of the end-to-end tests: the examples' CRDs served, a namespace a test, operatord started from a config."""

import itertools
import json
import os
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cluster as control_plane  # noqa: E402
from faultproxy import FaultProxy  # noqa: E402
from kubeclient import load  # noqa: E402
from sites import EXAMPLES, NAMESPACES, Objects, Site, serve_crd  # noqa: E402


@pytest.fixture(scope="session")
def crds(server):
    for name in ("nginx", "uuid", "uuid-status", "greeting", "edge", "webapp", "database"):
        serve_crd(server.kube, load(f"{EXAMPLES}/crds/{name}.yaml")[0])


_numbers = itertools.count(1)


@pytest.fixture
def namespace(server):
    """A namespace of the test's own, deleted behind it."""
    name = f"e2e-{os.getpid()}-{next(_numbers)}"
    server.kube.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    server.kube.delete(f"{NAMESPACES}/{name}")


@pytest.fixture
def site(build, server, crds, namespace, tmp_path):
    made = Site(build, server, tmp_path, namespace)
    yield made
    made.close()


@pytest.fixture
def objects(server, namespace):
    return Objects(server.kube, namespace)


@pytest.fixture
def proxy(server, tmp_path):
    """A proxy before the server, which makes the faults that it is told to."""
    with FaultProxy(server.kubeconfig, tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def kubectl_program(tmp_path_factory):
    """The machine's kubectl when it is 1.27 or newer, else the one of the built control plane."""
    found = shutil.which("kubectl")
    if found:
        done = subprocess.run([found, "version", "--client", "-o", "json"], capture_output=True, text=True, check=False)
        if done.returncode == 0 and int(json.loads(done.stdout)["clientVersion"]["minor"].rstrip("+")) >= 27:
            return [found]
    build = os.path.join(os.path.dirname(control_plane.__file__), "build")
    done = subprocess.run([build], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("no kubectl of 1.27 or newer, and none can be built: " + done.stderr.strip())
    return [done.stdout.strip(), "kubectl"]


@pytest.fixture
def kubectl(kubectl_program, server, tmp_path):
    def run(*arguments, text=None):
        environment = {**os.environ, "KUBECONFIG": server.kubeconfig, "HOME": str(tmp_path)}
        done = subprocess.run([*kubectl_program, *arguments], input=text, capture_output=True, text=True, timeout=60,
                              env=environment, check=False)
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stdout
    return run
