"""The image of packaging/Containerfile, built and run by podman with a storage of its own in $OPERATORD_TEST_CACHE.

The base image is a Debian root by debootstrap, so that nothing but a Debian mirror is asked. The network is the host's: the development server is on loopback.
"""

import json
import os
import subprocess

from debian import Unavailable, apt_source, cache_directory, debian_root
from programs import Failed, Program, wait_for

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASE = "localhost/operatord-test-base:bookworm"
BUILD = "localhost/operatord-test-build"
IMAGE = "localhost/operatord-test"
# Without the right to raise limits podman must not try to; runc works on hosts with both hierarchies of cgroups mounted.
RUN = ["--rm", "--network=host", "--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096", "--security-opt=no-new-privileges", "--cap-drop=ALL",
       "--read-only"]


class Podman:
    """podman with the image, which is built when this is made: three minutes the first time, half a minute later."""

    def __init__(self, directory):
        root = debian_root("base", tools=("podman", "runc"))
        storage = os.path.join(cache_directory(), "containers")
        self.command = ["podman", "--root", f"{storage}/storage", "--runroot", f"{storage}/run", "--cgroup-manager=cgroupfs", "--runtime=runc"]
        self.log_path = os.path.join(directory, "build.log")
        if self.run("image", "exists", BASE, check=False).returncode != 0:
            with subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE) as tar:
                self.run("import", "-", BASE, stdin=tar.stdout)
        probe = self.run("run", *RUN, BASE, "true", check=False)
        if probe.returncode != 0:
            raise Unavailable("podman can't run a container: " + probe.stderr.strip())
        # The stage that builds gets a name, so that its packages are not fetched anew each time.
        for more in (["--target=build", "-t", BUILD], ["-t", IMAGE]):
            done = self.run("build", "--network=host", "--isolation=chroot", f"--build-arg=BASE={BASE}", "-f", "packaging/Containerfile", *more, TOP,
                            check=False, seconds=1200)
            with open(self.log_path, "a", encoding="utf-8") as log:
                log.write(done.stdout + done.stderr)
            if done.returncode != 0:
                raise Failed("the image was not built:\n" + "\n".join((done.stdout + done.stderr).splitlines()[-30:]))
        self.run("image", "prune", "--force", check=False)

    def run(self, *arguments, check=True, stdin=subprocess.DEVNULL, seconds=300):
        done = subprocess.run([*self.command, *arguments], stdin=stdin, capture_output=True, text=True, check=False, timeout=seconds,
                              env={**apt_source()[1]}, cwd=TOP)
        if check and done.returncode != 0:
            raise Failed(f"podman {' '.join(arguments)}: exit code {done.returncode}: {done.stderr or done.stdout}")
        return done

    def inspect(self, kind, name):
        return json.loads(self.run(kind, "inspect", name).stdout)[0]


class Container(Program):
    """One container of the image, run in the foreground: its log is the program's, its exit code podman's."""

    def __init__(self, podman, directory, name, *options, arguments=(), user="65534"):
        self.podman, self.container = podman, name
        super().__init__(directory, name, [*podman.command, "run", "--name", name, "--user", user, *RUN, *options, IMAGE, *arguments])

    def first(self):
        """The pid, as the host sees it, of the container's PID 1."""
        def pid():
            if not self.running():
                raise Failed("the container ended:\n" + self.tail())
            return self.podman.inspect("container", self.container)["State"]["Pid"]
        return wait_for("a running container", pid)

    def exec(self, *command, check=True):
        done = self.podman.run("exec", self.container, *command, check=False)
        if check and done.returncode != 0:
            raise Failed(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr or done.stdout}")
        return done

    def processes(self):
        """{pid as the host sees it: state} of all in the container's PID namespace."""
        space, found = os.readlink(f"/proc/{self.first()}/ns/pid"), {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/ns/pid") == space:
                    found[int(pid)] = state_of(pid)
            except OSError:  # gone, or none of ours
                pass
        return found

    def remove(self):
        if self.running():
            self.podman.run("rm", "--force", "--time=0", self.container, check=False)
            self.wait(20)
        self.log_file.close()


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0]
