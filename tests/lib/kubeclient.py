"""A small Kubernetes client for tests and the demo: standard library, and PyYAML to read kubeconfigs."""

import base64
import http.client
import json
import os
import ssl
import tempfile
import time
import urllib.parse

import yaml

MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"


class ApiError(Exception):
    """An answer of 400 or more; .status is the HTTP status, .body the Status object (or its text)."""

    def __init__(self, status, body):
        self.status = status
        self.body = body
        text = body.get("message") if isinstance(body, dict) else body
        super().__init__(f"{status}: {text}")


class Kube:
    """One server with one identity, from a kubeconfig file's current context."""

    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as file:
            config = yaml.safe_load(file)
        base = os.path.dirname(os.path.abspath(kubeconfig))
        context = _named(config["contexts"], config["current-context"])["context"]
        cluster = _named(config["clusters"], context["cluster"])["cluster"]
        user = _named(config["users"], context["user"])["user"] if context.get("user") else {}
        url = urllib.parse.urlsplit(cluster["server"])
        self.host, self.port, self.prefix = url.hostname, url.port or 443, url.path.rstrip("/")
        self.token = user.get("token")
        self.tls = ssl.create_default_context(cadata=_pem(cluster, "certificate-authority", base))
        certificate = _pem(user, "client-certificate", base)
        if certificate:
            with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
                file.write(certificate + "\n" + _pem(user, "client-key", base))
                file.flush()
                self.tls.load_cert_chain(file.name)

    def open(self, method, path, body=None, content_type=None, accept="application/json", timeout=30):
        """Sends a request on a connection of its own; returns (connection, response)."""
        headers = {"Accept": accept}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        if body is not None:
            body = body if isinstance(body, (bytes, str)) else json.dumps(body)
            headers["Content-Type"] = content_type or "application/json"
        connection = http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=timeout)
        connection.request(method, self.prefix + path, body=body, headers=headers)
        return connection, connection.getresponse()

    def request(self, method, path, body=None, content_type=None, accept="application/json"):
        """One request: the parsed answer, or ApiError."""
        connection, response = self.open(method, path, body, content_type, accept)
        try:
            raw = response.read()
        finally:
            connection.close()
        try:
            answer = json.loads(raw) if raw else None
        except ValueError:
            answer = raw.decode("utf-8", "replace")
        if response.status >= 400:
            raise ApiError(response.status, answer)
        return answer

    def get(self, path):
        return self.request("GET", path)

    def get_or_none(self, path):
        try:
            return self.get(path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def items(self, path):
        return self.get(path)["items"]

    def create(self, path, body):
        return self.request("POST", path, body)

    def merge(self, path, body):
        return self.request("PATCH", path, body, MERGE)

    def apply(self, path, body, manager="tests", force=True):
        query = urllib.parse.urlencode({"fieldManager": manager, "force": str(force).lower()})
        return self.request("PATCH", f"{path}?{query}", body, APPLY)

    def delete(self, path, body=None):
        return self.request("DELETE", path, body)

    def watch(self, path, seconds):
        """Yields the events of a watch until the server ends it or the seconds are over."""
        deadline = time.monotonic() + seconds
        joint = "&" if "?" in path else "?"
        connection, response = self.open("GET", f"{path}{joint}watch=1&timeoutSeconds={int(seconds) or 1}",
                                         timeout=seconds + 5)
        try:
            for line in response:
                if line.strip():
                    yield json.loads(line)
                if time.monotonic() > deadline:
                    return
        finally:
            connection.close()


def _named(entries, name):
    for entry in entries:
        if entry["name"] == name:
            return entry
    raise KeyError(name)


def _pem(section, key, base):
    """PEM text of KEY-data or of the file KEY (relative to the kubeconfig), None when neither is there."""
    if section.get(key + "-data"):
        return base64.b64decode(section[key + "-data"]).decode()
    if section.get(key):
        with open(os.path.join(base, section[key]), encoding="utf-8") as file:
            return file.read()
    return None


def load(path):
    """All documents of a YAML file."""
    with open(path, encoding="utf-8") as file:
        return [document for document in yaml.safe_load_all(file) if document]


def path_of(kind_plural, api_version, namespace=None, name=None):
    """The URL path of a resource: path_of("nginx", "stable.underneathall.com/v1", "default", "web")."""
    root = "/apis/" + api_version if "/" in api_version else "/api/" + api_version
    middle = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{middle}/{kind_plural}" + (f"/{name}" if name else "")
