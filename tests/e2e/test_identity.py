"""Controllers with identities of their own: each is refused, served and rotated alone; impersonation; rights in some namespaces only."""

import os

import pytest

from kubeclient import load, path_of
from programs import wait_for
from sites import NAMESPACES, controllers_of

RBAC = "rbac.authorization.k8s.io/v1"
WORK = ["get", "list", "watch", "create", "patch", "delete"]


class Accounts:
    """Service accounts of the test's namespace and what they may do, on a server that knows of such."""

    def __init__(self, site):
        self.site, self.kube = site, site.server.kube
        self.made = []

    def create(self, path, body):
        self.made.append(f"{path}/{self.kube.create(path, body)['metadata']['name']}")

    def token(self, name):
        """Of an account, which is made."""
        accounts = path_of("serviceaccounts", "v1", self.site.namespace)
        self.kube.create(accounts, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        return self.kube.create(f"{accounts}/{name}/token", request)["status"]["token"]

    def subject(self, name):
        return {"kind": "ServiceAccount", "name": name, "namespace": self.site.namespace}

    def allow(self, subject, *rules, namespace=None):
        """Rights in one namespace, or everywhere."""
        name, scope = f"{self.site.namespace}-{len(self.made)}", "" if namespace else "Cluster"
        subject = {"apiGroup": "rbac.authorization.k8s.io", **subject} if subject["kind"] == "User" else subject
        self.create(path_of(f"{scope.lower()}roles", RBAC, namespace), {
            "apiVersion": RBAC, "kind": f"{scope}Role", "metadata": {"name": name}, "rules": list(rules)})
        self.create(path_of(f"{scope.lower()}rolebindings", RBAC, namespace), {
            "apiVersion": RBAC, "kind": f"{scope}RoleBinding", "metadata": {"name": name}, "subjects": [subject],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": f"{scope}Role", "name": name}})


def rule(group, resources, verbs=None):
    return {"apiGroups": [group], "resources": resources, "verbs": verbs or WORK}


NGINX_RULES = (rule("stable.underneathall.com", ["nginx", "nginx/status"]), rule("apps", ["deployments"]), rule("events.k8s.io", ["events"], ["create"]))


@pytest.fixture
def accounts(site):
    made = Accounts(site)
    yield made
    for path in reversed(made.made):
        made.kube.delete(path)


def state(site, name):
    return site.operatord.workers()[name]["state"]


def with_token(site, controllers, text):
    """A token file in a directory of its own, by a path that starts at the configuration's."""
    name = f"secret-{controllers[0]['name']}"
    os.makedirs(os.path.join(site.directory, name), exist_ok=True)
    site.write(text, f"{name}/token")
    controllers[0]["credentials"] = {"tokenFile": f"{name}/token"}
    return controllers


def administrators_token(site):
    if not site.server.real:
        return load(site.server.kubeconfig)[0]["users"][0]["user"]["token"]
    accounts = Accounts(site)
    token = accounts.token("administrator")
    accounts.allow(accounts.subject("administrator"), {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]})
    return token


def test_one_is_refused_and_rotated_alone(site, objects):
    right = administrators_token(site)
    site.write(site.main(with_token(site, controllers_of("nginx"), "wrong") + controllers_of("uuid")))
    site.start("uuid")
    wait_for("unauthorized", lambda: state(site, "nginx") == "unauthorized")
    assert "secret-nginx/token" in site.operatord.workers()["nginx"]["cause"]
    pids = site.pids()
    site.write(right, "secret-nginx/token")
    site.operatord.wait_live("nginx", seconds=60)
    assert site.pids() == pids and state(site, "uuid") == "live"
    objects.create_nginx("web")
    wait_for("its child", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")))
    assert right not in site.operatord.log() and "wrong" not in site.operatord.log()


def test_a_token_file_that_is_missing_is_named(site):
    controllers = with_token(site, controllers_of("nginx"), "x")
    controllers[0]["credentials"]["tokenFile"] = "nowhere/token"
    site.write(site.main(controllers + controllers_of("uuid")))
    site.start("uuid")
    wait_for("config-invalid", lambda: state(site, "nginx") == "config-invalid")
    assert f"{site.directory}/nowhere/token" in site.operatord.workers()["nginx"]["cause"]


@pytest.mark.real_server  # service accounts and RBAC
def test_each_has_the_rights_of_its_own_account(site, accounts, objects):
    tokens = {name: accounts.token(name) for name in ("nginx", "uuid")}
    accounts.allow(accounts.subject("nginx"), *NGINX_RULES)
    site.write(site.main(with_token(site, controllers_of("nginx"), tokens["nginx"]) + with_token(site, controllers_of("uuid"), tokens["uuid"])))
    site.start("nginx")
    wait_for("forbidden", lambda: state(site, "uuid") == "forbidden")
    cause = site.operatord.workers()["uuid"]["cause"]
    assert "secret-uuid/token" in cause and f"system:serviceaccount:{site.namespace}:uuid" in cause, cause
    objects.create_nginx("web")
    wait_for("its child", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")))
    accounts.allow(accounts.subject("uuid"), rule("demo.operator", ["uuid"]), rule("events.k8s.io", ["events"], ["create"]))
    site.operatord.wait_live("uuid", seconds=60)


@pytest.mark.real_server  # service accounts and RBAC
def test_impersonation(site, accounts, objects):
    """The right to impersonate is asked of the account, every other of whom it acts as."""
    token = accounts.token("runner")
    accounts.allow({"kind": "User", "name": "jane"}, *NGINX_RULES)
    controllers = with_token(site, controllers_of("nginx"), token)
    controllers[0]["impersonate"] = {"user": "jane", "groups": ["developers"]}
    site.write(site.main(controllers))
    site.start()
    wait_for("forbidden", lambda: state(site, "nginx") == "forbidden")
    assert "impersonate" in site.operatord.workers()["nginx"]["cause"]
    accounts.allow(accounts.subject("runner"), rule("", ["users", "groups"], ["impersonate"]))
    site.operatord.wait_live("nginx", seconds=60)
    objects.create_nginx("web")
    child = wait_for("its child", lambda: objects.kube.get_or_none(objects.deployment("web-deploy")))
    assert child["metadata"]["name"] == "web-deploy" and "as jane" in site.operatord.log()


# --- many namespaces ---

@pytest.fixture
def many(site):
    """More namespaces than have a watch each."""
    names = [f"{site.namespace}-{number}" for number in range(12)]
    for name in names:
        site.server.kube.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield names
    for name in names:
        site.server.kube.delete(f"{NAMESPACES}/{name}")


def sockets(pid):
    links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    return sum(link.startswith("socket:") for link in links)


def create_in(kube, namespace):
    kube.create(path_of("nginx", "stable.underneathall.com/v1", namespace), {
        "apiVersion": "stable.underneathall.com/v1", "kind": "Nginx", "metadata": {"name": "web"}})


def child_in(kube, namespace):
    return kube.get_or_none(path_of("deployments", "apps/v1", namespace, "web-deploy"))


def start_in(site, names, token=None):
    controllers = controllers_of("nginx")
    controllers[0]["namespaces"] = names
    site.write(site.main(with_token(site, controllers, token) if token else controllers))
    site.start("nginx")


def test_many_namespaces_are_one_watch(site, many):
    """What lies elsewhere is neither handled nor kept."""
    kube = site.server.kube
    create_in(kube, site.namespace)
    create_in(kube, many[3])
    start_in(site, many)
    create_in(kube, many[7])
    for name in (many[3], many[7]):
        wait_for(f"the child in {name}", lambda name=name: child_in(kube, name))
    wait_for("two objects", lambda: site.operatord.workers()["nginx"]["objects"] == 2)
    assert child_in(kube, site.namespace) is None
    assert sockets(site.pids()["nginx"]) <= 8


@pytest.mark.real_server  # service accounts and RBAC
def test_many_namespaces_without_the_right_to_all(site, many, accounts):
    """Then a watch each; the state stays good, for nothing is missing."""
    token = accounts.token("namespaced")
    for name in many:
        accounts.allow(accounts.subject("namespaced"), *NGINX_RULES, namespace=name)
    start_in(site, many, token)
    create_in(site.server.kube, many[11])
    wait_for("its child", lambda: child_in(site.server.kube, many[11]))
    assert "one a namespace: one of all is not allowed" in site.operatord.log()
    assert '"state":"forbidden"' not in site.operatord.log()
    assert sockets(site.pids()["nginx"]) >= 24


@pytest.mark.real_server  # service accounts and RBAC
def test_a_few_namespaces_are_asked_for_one_by_one(site, many, accounts):
    """Nothing is asked at cluster scope, so the right to it is not needed, nor is its lack ever logged."""
    token = accounts.token("namespaced")
    for name in many[:2]:
        accounts.allow(accounts.subject("namespaced"), *NGINX_RULES, namespace=name)
    start_in(site, many[:2], token)
    create_in(site.server.kube, many[1])
    wait_for("its child", lambda: child_in(site.server.kube, many[1]))
    assert site.metric("rest_client_requests_total", code="403") == 0
    assert "not allowed" not in site.operatord.log()
