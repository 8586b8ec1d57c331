#!/usr/bin/python3
"""A real Kubernetes control plane on this machine, for tests and for trying.

etcd, kube-apiserver and kube-controller-manager (deployments, replica sets,
garbage collection, namespaces), all on 127.0.0.1. There is no kubelet and no
scheduler: Pods stay Pending. The Kubernetes programs are built once by the
script `build` beside this file; etcd is the system's, or $OPERATORD_TEST_ETCD.

    cluster.py up [--dir DIR]     run until SIGINT or SIGTERM, print the environment
    cluster.py selfcheck          start, use and stop one, print how long it took

In a test:

    with Cluster().start(directory) as cluster:
        cluster.kubectl("apply", "-f", "-", input=manifest)
        kubeconfig = cluster.user("alice", rules=[
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}])

Several clusters may run at once. Each has its own ports and its own directory.
Nothing outlives the thread that called start(): the kernel kills the programs
when it ends, however it ends.
"""

import argparse
import contextlib
import errno
import fcntl
import http.client
import http.server
import json
import os
import random
import secrets
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import quote

HERE = Path(__file__).resolve().parent
CONTROLLERS = (
    "garbage-collector-controller,deployment-controller,replicaset-controller,namespace-controller"
)
SHARED_MEMORY = Path("/dev/shm")
DATA_PREFIX = "operatord-etcd-"
DATA_ROOM = 512 << 20

OPENSSL_CONFIG = """\
[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = IP:127.0.0.1, IP:::1, DNS:localhost, DNS:kubernetes.default.svc
[client]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""


class Unavailable(Exception):
    """A cluster can't be had on this machine: the reason to skip a test."""


class ClusterError(Exception):
    """A program did not start, died, or did not answer in time."""


class ApiError(Exception):
    """The API server refused a request; `code`, and `status`, its Status object."""

    def __init__(self, method, path, code, status):
        message = status.get("message") if isinstance(status, dict) else status
        super().__init__(f"{method} {path}: {code} {message}")
        self.code = code
        self.status = status


def wait_for(condition, timeout=30, what=None):
    """Polls until condition() is true, and returns what it returned."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {timeout} s: {what or condition}")
        time.sleep(0.05)


def kube_binary():
    """The path of the built `kube`, built now if need be."""
    built = subprocess.run([HERE / "build"], stdout=subprocess.PIPE, text=True)
    if built.returncode == 77:
        raise Unavailable("kube-apiserver can't be built here: Go 1.26 or later is missing")
    if built.returncode != 0:
        raise ClusterError(f"tests/cluster/build: exit status {built.returncode}")
    return built.stdout.strip()


def program(name, override=None):
    path = override or shutil.which(name)
    if not path or not os.access(path, os.X_OK):
        raise Unavailable(f"{path or name} is not installed")
    return path


def free_port(taken):
    """A loopback port nobody listens on, below the range outgoing connections use."""
    for _ in range(1000):
        port = random.SystemRandom().randrange(20000, 32000)
        if port in taken:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                continue
        taken.add(port)
        return port
    raise ClusterError("no free port between 20000 and 32000")


def write_private(path, text):
    """Replaces the file at once, so that its readers see the old or the new one."""
    new = path.with_name(path.name + ".new")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(fd, "w") as file:
        file.write(text)
    new.replace(path)


class DataDirectory:
    """Where etcd writes: on a tmpfs with room, because it syncs every write.

    A lock marks it as in use; what a killed run left there is removed by the
    next one.
    """

    def __init__(self, fallback):
        parent = fallback
        if SHARED_MEMORY.is_dir() and os.access(SHARED_MEMORY, os.W_OK):
            space = os.statvfs(SHARED_MEMORY)
            if space.f_bavail * space.f_frsize >= DATA_ROOM:
                parent = SHARED_MEMORY
        self.remove_stale(parent)
        self.path = Path(tempfile.mkdtemp(prefix=DATA_PREFIX, dir=parent))
        self.fd = self.lock(self.path)

    @staticmethod
    def lock(path):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            raise
        return fd

    @classmethod
    def remove_stale(cls, parent):
        for path in parent.glob(DATA_PREFIX + "*"):
            # Young ones may not be locked yet.
            with contextlib.suppress(OSError):
                info = path.lstat()
                if info.st_uid != os.geteuid() or time.time() - info.st_mtime < 60:
                    continue
                fd = cls.lock(path)
                shutil.rmtree(path, ignore_errors=True)
                os.close(fd)

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.fd)


class TokenWebhook:
    """Answers the API server's TokenReviews, so that users can come and go."""

    def __init__(self):
        self.users = {}
        users = self.users

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                user = users.get(body["spec"]["token"])
                status = {"authenticated": user is not None}
                if user is not None:
                    status["user"] = user
                review = {
                    "apiVersion": "authentication.k8s.io/v1",
                    "kind": "TokenReview",
                    "status": status,
                }
                answer = json.dumps(review).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.1,), daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class Cluster:
    """One control plane.

    After start(): `dir`, `port`, `url`, `ca` (path of the CA certificate),
    `admin` (path of a kubeconfig with every right), `timings` (seconds).
    `apiserver_flags` are added to kube-apiserver's command line, for instance
    ["--min-request-timeout=5"] for watches that end early.
    """

    def __init__(self, apiserver_flags=(), kube=None, etcd=None):
        self.apiserver_flags = list(apiserver_flags)
        self.kube = kube
        self.etcd = etcd
        self.processes = {}
        self.timings = {}
        self.lock_fd = self.data = self.webhook = None

    # Life

    def start(self, directory, timeout=60):
        """Starts everything and returns self; on a failure nothing is left running."""
        self.etcd = program("etcd", self.etcd or os.environ.get("OPERATORD_TEST_ETCD"))
        self.openssl = program("openssl")
        self.setpriv = program("setpriv")
        self.kube = self.kube or kube_binary()

        begin = time.monotonic()
        self.dir = Path(directory).resolve()
        self.dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.ca = self.dir / "ca.crt"
        self.admin = self.dir / "admin.kubeconfig"
        self.lock_fd = os.open(self.dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self.lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self.lock_fd)
            self.lock_fd = None
            raise ClusterError(f"{self.dir}: a cluster runs there already") from None
        try:
            self._certificates()
            self.timings["certificates"] = time.monotonic() - begin
            self.webhook = TokenWebhook()
            for attempt in range(3):
                try:
                    self._programs(timeout)
                    break
                except ClusterError as error:
                    # Somebody may have taken a port that was free a moment ago.
                    if attempt == 2 or "address already in use" not in str(error):
                        raise
                    self._stop_programs()
        except BaseException:
            self.stop()
            raise
        self.timings["start"] = time.monotonic() - begin
        return self

    def stop(self):
        """Ends what start() started and waits for it. May be called twice."""
        begin = time.monotonic()
        self._stop_programs()
        if self.webhook:
            self.webhook.stop()
            self.webhook = None
        if self.lock_fd is not None:
            os.close(self.lock_fd)
            self.lock_fd = None
            self.timings["stop"] = time.monotonic() - begin

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop_program(self, name, sig=signal.SIGTERM, timeout=30):
        """Ends one program, for tests of outages; its port then refuses connections.

        The API server's graceful end waits for open watches; SIGKILL does not.
        """
        process = self.processes.pop(name, None)
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(sig)
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start_program(self, name, timeout=60):
        """Starts one program again, with the same port and the same data."""
        if name in self.processes:
            raise ClusterError(f"{name} is already running")
        with open(self.dir / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                [self.setpriv, "--pdeathsig", "KILL", "--", *self._command(name)],
                cwd=self.dir,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if name == "kube-apiserver":
            self._wait_ready(timeout)

    # Users and rights

    def user(self, name, groups=(), rules=None, namespace=None, certificate=False):
        """Makes a user and returns the path of its kubeconfig.

        It has a token of its own, or a client certificate if `certificate` is
        true. With `rules` it gets these rights, see grant(). A name used again
        gets a new token; the old one stays good until revoke().
        """
        path = self.dir / f"user-{quote(name, safe='')}.kubeconfig"
        if certificate:
            self._certificate(path.stem, "client", name, groups)
            credentials = {
                "client-certificate": f"{path.stem}.crt",
                "client-key": f"{path.stem}.key",
            }
        else:
            credentials = {"token": self.token(name, groups)}
        self._kubeconfig(path, name, credentials)
        if rules is not None:
            self.grant(name, rules, namespace)
        return path

    def token(self, name, groups=()):
        """A new bearer token for the user `name`."""
        token = secrets.token_urlsafe(24)
        self.webhook.users[token] = {"username": name, "uid": name, "groups": list(groups)}
        return token

    def revoke(self, name):
        """Ends all tokens of a user. The API server forgets them within 10 s."""
        for token, user in list(self.webhook.users.items()):
            if user["username"] == name:
                del self.webhook.users[token]

    def grant(self, user, rules, namespace=None):
        """Sets the user's rights: RBAC rules, in the whole cluster or one namespace.

        They replace what an earlier call for the same user and scope gave.
        """
        kind = "Role" if namespace else "ClusterRole"
        scope = f"/namespaces/{namespace}" if namespace else ""
        base = f"/apis/rbac.authorization.k8s.io/v1{scope}"
        metadata = {"name": f"test:{user}"}
        group = "rbac.authorization.k8s.io"
        role = {"kind": kind, "rules": list(rules)}
        binding = {
            "kind": f"{kind}Binding",
            "roleRef": {"apiGroup": group, "kind": kind, "name": metadata["name"]},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
        }
        for body in (role, binding):
            body |= {"apiVersion": f"{group}/v1", "metadata": metadata}
            plural = body["kind"].lower() + "s"
            self.apply(f"{base}/{plural}/{quote(metadata['name'])}", body)

    # Requests, as the user with every right unless a token is given

    def request(self, method, path, body=None, content_type="application/json", token=None):
        """One request; returns the decoded answer, or raises ApiError."""
        code, answer = self._exchange(method, path, body, content_type, token, timeout=30)
        if code >= 400:
            raise ApiError(method, path, code, answer)
        return answer

    def apply(self, path, body):
        """Server-side apply with force, as the field manager "test"."""
        kind = "application/apply-patch+yaml"
        return self.request("PATCH", f"{path}?fieldManager=test&force=true", body, kind)

    def get(self, path):
        """The object, or None if there is none."""
        try:
            return self.request("GET", path)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def kubectl(self, *arguments, input=None, kubeconfig=None, check=True):
        """Runs kubectl and returns its standard output, or with check=False all of it."""
        done = subprocess.run(
            [self.dir / "bin" / "kubectl", *arguments],
            input=input,
            env=os.environ | {"KUBECONFIG": str(kubeconfig or self.admin)},
            capture_output=True,
            text=True,
        )
        if not check:
            return done
        if done.returncode != 0:
            raise ClusterError(f"kubectl {shlex.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    # Inner parts

    def _exchange(self, method, path, body, content_type, token, timeout):
        headers = {"Authorization": f"Bearer {token or self.admin_token}"}
        data = None
        if body is not None:
            data = body if isinstance(body, (str, bytes)) else json.dumps(body)
            headers["Content-Type"] = content_type
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=timeout, context=self.tls
        )
        with contextlib.closing(connection):
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            content = answer.read()
            if answer.headers.get_content_type() == "application/json":
                return answer.status, json.loads(content)
            return answer.status, content.decode(errors="replace")

    def _programs(self, timeout):
        taken = set()
        self.port, self.etcd_port, self.etcd_peer_port = (free_port(taken) for _ in range(3))
        self.url = f"https://127.0.0.1:{self.port}"
        self.data = DataDirectory(self.dir)
        self._files()
        self.start_program("etcd")
        self.start_program("kube-apiserver", timeout)
        self.start_program("kube-controller-manager")

    def _stop_programs(self):
        # The data go with it: nothing is worth a graceful end, which takes the
        # API server seconds.
        for name in ("kube-controller-manager", "kube-apiserver", "etcd"):
            self.stop_program(name, signal.SIGKILL)
        if self.data:
            self.data.remove()
            self.data = None

    def _command(self, name):
        if name == "etcd":
            client = f"http://127.0.0.1:{self.etcd_port}"
            peer = f"http://127.0.0.1:{self.etcd_peer_port}"
            return [
                self.etcd,
                f"--data-dir={self.data.path}",
                f"--listen-client-urls={client}",
                f"--advertise-client-urls={client}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=default={peer}",
                "--heartbeat-interval=20",
                "--election-timeout=200",
            ]
        if name == "kube-apiserver":
            return [
                self.kube,
                name,
                f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
                f"--secure-port={self.port}",
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                "--endpoint-reconciler-type=none",
                "--tls-cert-file=server.crt",
                "--tls-private-key-file=server.key",
                "--client-ca-file=ca.crt",
                "--token-auth-file=tokens.csv",
                "--authentication-token-webhook-config-file=webhook.kubeconfig",
                "--authentication-token-webhook-version=v1",
                "--authentication-token-webhook-cache-ttl=0",
                "--authorization-mode=RBAC",
                "--service-cluster-ip-range=10.0.0.0/24",
                "--service-account-issuer=https://kubernetes.default.svc",
                "--service-account-key-file=sa.key",
                "--service-account-signing-key-file=sa.key",
                "--disable-admission-plugins=ServiceAccount",
                "--cert-dir=.",
                *self.apiserver_flags,
            ]
        if name == "kube-controller-manager":
            return [
                self.kube,
                name,
                f"--kubeconfig={self.admin}",
                f"--controllers={CONTROLLERS}",
                "--service-account-private-key-file=sa.key",
                "--leader-elect=false",
                "--secure-port=0",
            ]
        raise ValueError(name)

    def _wait_ready(self, timeout):
        deadline = time.monotonic() + timeout
        last = "no answer"
        while time.monotonic() < deadline:
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise ClusterError(f"{name}: exit {process.returncode}\n{self._tail(name)}")
            try:
                code, last = self._exchange("GET", "/readyz", None, None, None, timeout=5)
                if code == 200:
                    return
            except OSError as error:
                last = error
            time.sleep(0.05)
        logs = "\n".join(f"{name}:\n{self._tail(name)}" for name in self.processes)
        raise ClusterError(f"not ready within {timeout} s: {last}\n{logs}")

    def _tail(self, name, lines=20):
        text = (self.dir / f"{name}.log").read_text(errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def _run_openssl(self, *arguments):
        done = subprocess.run(
            [self.openssl, *arguments], cwd=self.dir, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise ClusterError(f"openssl {shlex.join(arguments)}: {done.stderr.strip()}")

    def _certificate(self, stem, extensions, name, organizations=()):
        subject = "".join(
            f"/{key}=" + value.replace("\\", "\\\\").replace("/", "\\/").replace("+", "\\+")
            for key, value in [("O", group) for group in organizations] + [("CN", name)]
        )
        arguments = ["req", "-x509", "-config", "openssl.cnf", "-extensions", extensions]
        arguments += ["-utf8", "-subj", subject, "-days", "30", "-nodes"]
        arguments += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        arguments += ["-keyout", f"{stem}.key", "-out", f"{stem}.crt"]
        if extensions != "ca":
            arguments += ["-CA", "ca.crt", "-CAkey", "ca.key"]
        self._run_openssl(*arguments)

    def _certificates(self):
        (self.dir / "openssl.cnf").write_text(OPENSSL_CONFIG)
        self._certificate("ca", "ca", "operatord test CA")
        self._certificate("server", "server", "kube-apiserver")
        # Not genpkey: the API server takes no EC key in PKCS #8 here.
        self._run_openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "sa.key")
        self.tls = ssl.create_default_context(cafile=str(self.ca))

    def _files(self):
        for name in ("etcd", "kube-apiserver", "kube-controller-manager"):
            (self.dir / f"{name}.log").unlink(missing_ok=True)
        self.admin_token = secrets.token_urlsafe(24)
        tokens = f'{self.admin_token},admin,admin,"system:masters"\n'
        write_private(self.dir / "tokens.csv", tokens)
        self._kubeconfig(self.admin, "admin", {"token": self.admin_token})
        self._kubeconfig(self.dir / "webhook.kubeconfig", "apiserver", {}, self.webhook.url)
        (self.dir / "bin").mkdir(exist_ok=True)
        kubectl = self.dir / "bin" / "kubectl"
        # kubectl's cache of discovery is keyed by address: never share it.
        cache = shlex.quote(str(self.dir / "kubectl-cache"))
        kubectl.write_text(
            f'#!/bin/sh\nexec {shlex.quote(self.kube)} kubectl --cache-dir={cache} "$@"\n'
        )
        kubectl.chmod(0o755)
        shutil.rmtree(self.dir / "kubectl-cache", ignore_errors=True)

    def _kubeconfig(self, path, user, credentials, server=None):
        # A string in JSON is one in YAML.
        lines = [
            "apiVersion: v1",
            "kind: Config",
            "clusters:",
            "- name: test",
            "  cluster:",
            f"    server: {server or self.url}",
        ]
        if server is None:
            lines.append("    certificate-authority: ca.crt")
        lines += ["users:", f"- name: {json.dumps(user)}"]
        lines.append("  user:" if credentials else "  user: {}")
        lines += [f"    {key}: {json.dumps(value)}" for key, value in credentials.items()]
        lines += [
            "contexts:",
            "- name: test",
            "  context:",
            "    cluster: test",
            f"    user: {json.dumps(user)}",
            "current-context: test",
            "",
        ]
        write_private(path, "\n".join(lines))


def widget_crd():
    schema = {"type": "object", "properties": {"spec": {"type": "object"}}}
    schema["properties"]["spec"]["properties"] = {"size": {"type": "integer"}}
    version = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}}
    version["schema"] = {"openAPIV3Schema": schema}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.test.example.com"},
        "spec": {
            "group": "test.example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [version],
        },
    }


def selfcheck(directory):
    """Starts a cluster, uses each part of it once, stops it; prints the timings."""
    cluster = Cluster()
    times = cluster.timings

    @contextlib.contextmanager
    def timed(name):
        begin = time.monotonic()
        yield
        times[name] = time.monotonic() - begin

    with cluster.start(directory):
        crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        crd = f"{crds}/widgets.test.example.com"
        with timed("CRD established"):
            cluster.request("POST", crds, widget_crd())

            def established():
                conditions = cluster.get(crd).get("status", {}).get("conditions") or []
                return ("Established", "True") in [(c["type"], c["status"]) for c in conditions]

            wait_for(established, what="the CRD is established")

        widgets = "/apis/test.example.com/v1/namespaces/default/widgets"
        widget = {"apiVersion": "test.example.com/v1", "kind": "Widget"}
        widget |= {"metadata": {"name": "one"}, "spec": {"size": 3}}
        with timed("object created"):
            wait_for(lambda: cluster.get(widgets) is not None, what="widgets are served")
            owner = cluster.request("POST", widgets, widget)

        labels = {"app": "one"}
        reference = {"apiVersion": widget["apiVersion"], "kind": "Widget", "name": "one"}
        reference["uid"] = owner["metadata"]["uid"]
        deployment = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "one", "ownerReferences": [reference]},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "one", "image": "example.com/one:1"}]},
                },
            },
        }
        apps = "/apis/apps/v1/namespaces/default"
        with timed("ReplicaSet seen"):
            cluster.apply(f"{apps}/deployments/one", deployment)
            replicasets = f"{apps}/replicasets?labelSelector=app%3Done"
            wait_for(lambda: cluster.request("GET", replicasets)["items"], what="a ReplicaSet")

        with timed("kubectl"):
            assert "one" in cluster.kubectl("get", "widgets,deployments,pods")

        with timed("limited users"):
            rule = {"apiGroups": ["test.example.com"], "resources": ["widgets"], "verbs": ["get"]}
            alice = cluster.user("alice", rules=[rule], namespace="default")
            bob = cluster.user("bob", groups=["dev"], certificate=True)
            # The authorizer learns of new rights by its own watch.
            wait_for(
                lambda: not cluster.kubectl(
                    "get", "widget", "one", kubeconfig=alice, check=False
                ).returncode,
                what="alice may read the widget",
            )
            for kubeconfig, arguments in (
                (alice, ["delete", "widget", "one"]),
                (bob, ["get", "widget", "one"]),
            ):
                refused = cluster.kubectl(*arguments, kubeconfig=kubeconfig, check=False)
                assert refused.returncode != 0 and "forbidden" in refused.stderr, refused

        with timed("token revoked"):
            token = cluster.token("carol")
            review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}

            def accepted():
                path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
                try:
                    cluster.request("POST", path, review, token=token)
                    return True
                except ApiError as error:
                    assert error.code == 401, error
                    return False

            assert accepted()
            cluster.revoke("carol")
            wait_for(lambda: not accepted(), what="a revoked token is refused")

        with timed("children collected"):
            cluster.request("DELETE", f"{widgets}/one")
            wait_for(
                lambda: not cluster.get(f"{apps}/deployments/one")
                and not cluster.request("GET", replicasets)["items"],
                timeout=60,
                what="the Deployment and its ReplicaSet are collected",
            )

        with timed("API server restarted"):
            cluster.stop_program("kube-apiserver", signal.SIGKILL)
            cluster.start_program("kube-apiserver")
        assert cluster.get(crd)
        cluster.request("DELETE", crd)

    for name, seconds in times.items():
        print(f"{name:22}{seconds:7.2f} s")


def up(directory):
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with Cluster().start(directory) as cluster:
        print(f"export KUBECONFIG={shlex.quote(str(cluster.admin))}")
        print(f"export PATH={shlex.quote(str(cluster.dir / 'bin'))}:$PATH", flush=True)
        while not stop.wait(0.5):
            for name, process in cluster.processes.items():
                if process.poll() is not None:
                    raise ClusterError(f"{name}: exit {process.returncode}\n{cluster._tail(name)}")


def main():
    parser = argparse.ArgumentParser(description="A real Kubernetes control plane for tests.")
    parser.add_argument("command", choices=["up", "selfcheck"])
    parser.add_argument("--dir", help="keep files and logs here (default: a temporary directory)")
    arguments = parser.parse_args()
    run = {"up": up, "selfcheck": selfcheck}[arguments.command]
    try:
        if arguments.dir:
            run(arguments.dir)
        else:
            with tempfile.TemporaryDirectory(prefix="operatord-cluster-") as directory:
                run(directory)
    except Unavailable as reason:
        print(f"cluster.py: {reason}", file=sys.stderr)
        return 77
    except (ClusterError, ApiError, TimeoutError) as error:
        print(f"cluster.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
