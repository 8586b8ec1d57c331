"""The machine of this run, and in it a development server and operatord.service with a configuration for each test."""

import json
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
from kubeclient import load, path_of  # noqa: E402
from machine import Machine, Unavailable  # noqa: E402
from programs import wait_for  # noqa: E402
from sites import CRDS, EXAMPLES  # noqa: E402

UNIT = "operatord.service"


@pytest.fixture(scope="session")
def machine(build, tmp_path_factory):
    try:
        made = Machine(build, str(tmp_path_factory.mktemp("machine")))
    except Unavailable as reason:
        pytest.skip(f"no machine with systemd here: {reason}")
    yield made
    made.stop()


def configured(build, name):
    """A directory that configure chose."""
    with open(os.path.join(build, "Makefile"), encoding="utf-8") as file:
        values = dict(line.rstrip("\n").split(" = ", 1) for line in file if " = " in line and not line.startswith("\t"))
    value = values[name]
    while "${" in value:
        before, rest = value.split("${", 1)
        inner, after = rest.split("}", 1)
        value = before + values[inner] + after
    return value


class Service:
    """operatord.service of the machine with its configuration."""

    def __init__(self, machine, build):
        self.machine = machine
        self.sbin, self.bin = configured(build, "sbindir"), configured(build, "bindir")
        self.directory = configured(build, "sysconfdir") + "/operatord"
        self.units = configured(build, "systemdsystemunitdir")

    def document(self, controllers, **top):
        return {"version": 1, "instance": "machine", "cluster": {"kubeconfig": f"/run/credentials/{UNIT}/kubeconfig"},
                "heartbeat": "1s", "controllers": controllers, **top}

    def configure(self, controllers, **top):
        self.write("operatord.yaml", json.dumps(self.document(controllers, **top)))

    def write(self, name, text):
        self.machine.write(f"{self.directory}/{name}", text)

    def drop_in(self, text="", unit=UNIT):
        """A drop-in for the test, beside the credential that the unit's comment shows."""
        self.machine.write(f"/run/systemd/system/{unit}.d/test.conf", f"[Service]\nLoadCredential=kubeconfig:/root/kubeconfig\n{text}")
        self.machine.run("systemctl", "daemon-reload")

    def start(self, *live, unit=UNIT):
        self.machine.run("systemctl", "start", unit)
        if live:
            wait_for(f"{live} live", lambda: all(self.workers()[name]["state"] == "live" for name in live))

    def ctl(self, *arguments, check=True):
        return self.machine.run(f"{self.bin}/operatorctl", *arguments, check=check)

    def workers(self):
        return {worker["name"]: worker for worker in json.loads(self.ctl("status", "-o", "json").stdout)["workers"]}

    def show(self, *names, unit=UNIT):
        return self.machine.show(unit, *names)

    def main_pid(self):
        return int(self.show("MainPID")["MainPID"])

    def status_text(self):
        return self.show("StatusText")["StatusText"]

    def reset(self):
        for unit in (UNIT, "operatord@second.service"):
            self.machine.run("systemctl", "stop", unit, check=False)
            self.machine.run("systemctl", "reset-failed", unit, check=False)
        self.machine.run("sh", "-c", f"rm -rf {self.directory}/*")
        self.machine.run("journalctl", "--rotate")
        self.machine.run("journalctl", "--vacuum-time=1us")


@pytest.fixture(scope="session")
def devserver(machine, build):
    """A development server inside, with the examples' CRDs."""
    machine.run("systemd-sysusers")
    machine.run("systemd-run", "--unit=devserver", f"{configured(build, 'bindir')}/operatord-devserver", "--kubeconfig", "/root/kubeconfig")
    wait_for("the development server", lambda: os.path.exists(machine.path("/root/kubeconfig")))

    def served(crd):
        spec = crd["spec"]
        return machine.request("GET", path_of(spec["names"]["plural"], f"{spec['group']}/{spec['versions'][0]['name']}"))

    for name in ("nginx", "uuid"):
        crd = load(f"{EXAMPLES}/crds/{name}.yaml")[0]
        machine.request("POST", CRDS, crd)
        wait_for(f"{name} served", lambda crd=crd: served(crd))


@pytest.fixture
def service(machine, build, devserver):
    made = Service(machine, build)
    made.reset()
    made.drop_in("RestartSec=200ms\n")
    yield made
    made.reset()
