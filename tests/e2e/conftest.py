"""Fixtures of the end-to-end tests: the examples' CRDs served, a namespace a test, operatord started from a config."""

import itertools
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kubeclient import load  # noqa: E402
from sites import EXAMPLES, NAMESPACES, Objects, Site, serve_crd  # noqa: E402


@pytest.fixture(scope="session")
def crds(server):
    for name in ("nginx", "uuid", "uuid-status", "greeting"):
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
