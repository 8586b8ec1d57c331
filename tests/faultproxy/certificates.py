"""Certificate authorities of the tests', by the openssl program."""

import itertools
import os
import subprocess

CONFIG = """[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = $ENV::NAMES
[client]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = clientAuth
"""


class Authority:
    """One CA in a directory of its own: .certificate is its path, issue() makes more below it."""

    _numbers = itertools.count(1)

    def __init__(self, directory, name="fault proxy CA"):
        self.directory = os.path.join(str(directory), f"authority-{next(self._numbers)}")
        os.makedirs(self.directory, mode=0o700)
        with open(os.path.join(self.directory, "openssl.cnf"), "w", encoding="ascii") as file:
            file.write(CONFIG)
        self.certificate, self._key = self._request("ca", "ca", name, ())
        self._issued = itertools.count(1)

    def server(self, names=("DNS:localhost", "IP:127.0.0.1", "IP:::1"), common_name="fault proxy"):
        """(certificate, key) for these subject alternative names."""
        return self._request(f"server-{next(self._issued)}", "server", common_name, ("-CA", self.certificate, "-CAkey", self._key), names)

    def client(self, common_name):
        return self._request(f"client-{next(self._issued)}", "client", common_name, ("-CA", self.certificate, "-CAkey", self._key))

    def _request(self, stem, section, common_name, more, names=("DNS:localhost",)):
        certificate, key = (os.path.join(self.directory, stem + end) for end in (".crt", ".key"))
        subprocess.run(["openssl", "req", "-x509", "-config", "openssl.cnf", "-extensions", section, "-subj", f"/CN={common_name}",
                        "-days", "30", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", key,
                        "-out", certificate, *more], cwd=self.directory, env={**os.environ, "NAMES": ",".join(names)}, check=True,
                       stdin=subprocess.DEVNULL, capture_output=True)
        return certificate, key


def text_of(path):
    with open(path, encoding="ascii") as file:
        return file.read()
