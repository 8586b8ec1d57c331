"""Options and the server under all tests here: --server devserver (default) or cluster, --build DIR."""

import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("lib", "cluster", "."):
    sys.path.insert(0, os.path.join(HERE, folder))

import cluster as control_plane  # noqa: E402
from kubeclient import Kube  # noqa: E402
from programs import DevServer  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--server", choices=("devserver", "cluster"), default="devserver",
                     help="what the tests run against: the development server, or a real kube-apiserver")
    parser.addoption("--build", default=os.environ.get("OPERATORD_BUILD", "build-test"),
                     help="the build directory with the programs")
    parser.addoption("--soak", type=int, default=30, metavar="SECONDS", help="how long tests/soak makes faults (default 30)")
    parser.addoption("--seed", type=int, help="of the faults of tests/soak; it is printed, so that a run can be repeated")


def pytest_configure(config):
    config.addinivalue_line("markers", "real_server: needs what the development server does not have; left to the runs with --server cluster")


def pytest_collection_modifyitems(config, items):
    """Left out, not skipped: the same test runs in the same suite on the server that can show what it is about."""
    if config.getoption("--server") == "cluster":
        return
    left_out = [item for item in items if item.get_closest_marker("real_server")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


class Server:
    """The API server of this run: .kubeconfig (cluster administrator), .kube, .real."""

    def __init__(self, kubeconfig, real):
        self.kubeconfig = str(kubeconfig)
        self.real = real
        self.kube = Kube(self.kubeconfig)


@pytest.fixture(scope="session")
def build(request):
    return os.path.abspath(request.config.getoption("--build"))


@pytest.fixture(scope="session")
def server(request, build, tmp_path_factory):
    directory = str(tmp_path_factory.mktemp("server"))
    named = os.environ.get("OPERATORD_TEST_KUBECONFIG")
    if request.config.getoption("--server") == "devserver":
        started = DevServer(build, directory)
        yield Server(started.kubeconfig, real=False)
        assert started.stop() == 0, started.tail()
    elif named:
        yield Server(named, real=True)
    else:
        try:
            started = control_plane.Cluster().start(directory)
        except control_plane.Unavailable as reason:
            pytest.skip(f"no real API server here: {reason}")
        with started:
            yield Server(started.admin, real=True)
