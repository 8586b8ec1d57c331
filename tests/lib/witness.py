"""An HTTPS and HTTP server and proxies that note who comes to them and how: what two clients are compared by."""

import http.server
import os
import socket
import socketserver
import ssl
import subprocess
import threading


def openssl(directory, *arguments):
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)


def certificates(directory):
    """ca.pem; server.pem and .key for 127.0.0.1, ::1 and api.test; client.pem and .key of "jane"."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    openssl(directory, "req", "-x509", *key, "-subj", "/CN=the authority", "-keyout", "ca.key", "-out", "ca.pem")
    for name, subject, extension in (("server", "/CN=server", "subjectAltName=IP:127.0.0.1,IP:::1,DNS:api.test"),
                                     ("client", "/O=dev/CN=jane", "extendedKeyUsage=clientAuth")):
        openssl(directory, "req", "-x509", *key, "-subj", subject, "-addext", extension, "-CA", "ca.pem", "-CAkey", "ca.key",
                "-addext", "basicConstraints=critical,CA:false", "-keyout", f"{name}.key", "-out", f"{name}.pem")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # noqa: N802 - the name is the base class's
        peer = self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None
        names = {key: value for part in (peer or {}).get("subject", ()) for key, value in part}
        prefix = self.path
        for start in ("/version", "/apis", "/api"):
            prefix = prefix.split(start, 1)[0]
        self.server.note({
            "tls": isinstance(self.connection, ssl.SSLSocket), "prefix": prefix, "authorization": self.headers["Authorization"],
            "impersonates": sorted((key.lower(), value) for key, value in self.headers.items()
                                   if key.lower().startswith("impersonate-")),
            "certificate": names.get("commonName"), "sni": getattr(self.connection, "asked_for", None)})
        body = b'{"major":"1","minor":"32"}' if self.path.endswith("/version") else b"{}"
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, note, context=None, family=socket.AF_INET):
        self.address_family = family
        self.note, self.context = note, context
        super().__init__(("127.0.0.1" if family == socket.AF_INET else "::1", 0), Handler)
        self.port = self.server_address[1]

    def finish_request(self, request, address):
        """The handshake is the connection's thread's, not the listener's."""
        try:
            request.settimeout(10)
            if self.context is not None:
                request = self.context.wrap_socket(request, server_side=True)
            super().finish_request(request, address)
            request.close()
        except OSError:
            pass  # a client that trusts nobody here leaves in the handshake

    def handle_error(self, request, address):
        pass


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Proxy(socketserver.ThreadingTCPServer):
    """CONNECT of HTTP, or SOCKS5; whatever name is asked for, the way leads to the witness."""

    daemon_threads = allow_reuse_address = True

    def __init__(self, note, target, socks, context=None):
        self.note, self.target, self.socks, self.context = note, target, socks, context
        super().__init__(("127.0.0.1", 0), None)
        self.port = self.server_address[1]

    def finish_request(self, request, address):
        try:
            request.settimeout(10)
            if self.context is not None:
                request = self.context.wrap_socket(request, server_side=True)
            (self.serve_socks if self.socks else self.serve_connect)(request)
            with socket.create_connection(("127.0.0.1", self.target)) as onward:
                back = threading.Thread(target=pump, args=(onward, request), daemon=True)
                back.start()
                pump(request, onward)
                back.join(10)
        except OSError:
            pass

    def serve_connect(self, request):
        head = b""
        while b"\r\n\r\n" not in head:
            head += request.recv(4096) or self.cut()
        lines = head.decode().split("\r\n")
        self.note("connect", lines[0].split()[1],
                  next((line.split(": ", 1)[1] for line in lines if line.lower().startswith("proxy-authorization:")), None))
        request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")

    def serve_socks(self, request):
        file = request.makefile("rb", 0)
        methods = self.take(file, self.take(file, 2)[1])
        user = None
        if 2 in methods:
            request.sendall(b"\x05\x02")
            name = self.take(file, self.take(file, 2)[1])
            user = (name + b":" + self.take(file, self.take(file, 1)[0])).decode()
            request.sendall(b"\x01\x00")
        else:
            request.sendall(b"\x05\x00")
        kind = self.take(file, 4)[3]
        host = self.take(file, self.take(file, 1)[0]).decode() if kind == 3 else socket.inet_ntoa(self.take(file, 4))
        port = int.from_bytes(self.take(file, 2), "big")
        self.note("socks", f"{host}:{port}", user)
        request.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")

    @staticmethod
    def cut():
        raise ConnectionError

    def take(self, file, n):
        data = b""
        while len(data) < n:
            data += file.read(n - len(data)) or self.cut()
        return data


class Witness:
    """.port (https), .plain_port (http), .v6_port (https, None without IPv6), .connect_port, .secure_connect_port, .socks_port; .take() gives
    what was noted since."""

    def __init__(self, directory):
        self.directory = str(directory)
        certificates(self.directory)
        self.noted, self.ways, self.lock = [], [], threading.Lock()
        context = self.context(clients=True)
        self.servers = [Listener(self.note, context), Listener(self.note)]
        self.port, self.plain_port = (server.port for server in self.servers)
        proxies = [Proxy(self.note_way, self.port, False), Proxy(self.note_way, self.port, False, self.context(clients=False)),
                   Proxy(self.note_way, self.port, True)]
        self.connect_port, self.secure_connect_port, self.socks_port = (proxy.port for proxy in proxies)
        self.servers += proxies
        self.v6_port = None
        try:
            self.servers.append(Listener(self.note, context, socket.AF_INET6))
            self.v6_port = self.servers[-1].port
        except OSError:
            pass
        for server in self.servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def path(self, name):
        return os.path.join(self.directory, name)

    def context(self, clients):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path("server.pem"), self.path("server.key"))
        if clients:
            context.load_verify_locations(self.path("ca.pem"))
            context.verify_mode = ssl.CERT_OPTIONAL
            context.sni_callback = lambda connection, name, _: setattr(connection, "asked_for", name)
        return context

    def note(self, what):
        with self.lock:
            self.noted.append(what)

    def note_way(self, *way):
        with self.lock:
            self.ways.append(way)

    def take(self):
        """The first request since the last take, with the way that it came; None: there was none."""
        with self.lock:
            seen = {**self.noted[0], "way": self.ways[0] if self.ways else None} if self.noted else None
            self.noted, self.ways = [], []
        return seen

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()
