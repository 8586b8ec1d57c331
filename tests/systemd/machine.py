"""A machine with a real systemd: a Debian root by debootstrap (kept in $OPERATORD_TEST_CACHE), booted by systemd-nspawn on a copy that vanishes with it.

The mounts are in a namespace of their own, the processes in a cgroup of their own, the network is the container's own loopback: what is left behind when all is
killed is one empty directory.
"""

import json
import os
import signal
import subprocess
import sys
import time

from debian import Unavailable, debian_root
from programs import Failed, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ["systemd", "systemd-sysv", "dbus", "procps", "libcjson1", "libcurl4", "libev4", "libfyaml0", "libjq1", "libmicrohttpd12", "libseccomp2",
            "libssl3", "libxxhash0"]
TOOLS = ("systemd-nspawn", "nsenter", "unshare", "mount")

# In mount and cgroup of its own: $1 the Debian root, $2 what is installed over it, $3 an empty directory, the rest are cgroups to be in.
BOOT = r"""
set -e
lower=$1 stage=$2 top=$3
shift 3
for cgroup; do echo $$ > "$cgroup/cgroup.procs"; done
mount -t tmpfs -o mode=0755 operatord-test "$top"
mkdir "$top/upper" "$top/work" "$top/root"
mount -t overlay -o "lowerdir=$lower,upperdir=$top/upper,workdir=$top/work" overlay "$top/root"
cp -a "$stage/." "$top/root/"
exec systemd-nspawn --quiet --directory="$top/root" --machine=operatord-test-$$ --register=no --keep-unit --private-network --boot \
	--console=pipe --link-journal=no --timezone=off --resolv-conf=off \
	--system-call-filter="landlock_create_ruleset landlock_add_rule landlock_restrict_self"
"""


def make_cgroups():
    """A cgroup of its own below ours, in the unified hierarchy and in systemd's, where there are such: their directories."""
    made = []
    with open("/proc/self/cgroup", encoding="ascii") as file:
        for line in file.read().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers not in ("", "name=systemd"):
                continue
            mounts = ["/sys/fs/cgroup/systemd"] if controllers else ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
            for mount in mounts:
                if os.path.exists(os.path.join(mount, "cgroup.procs")):
                    made.append(os.path.join(mount, path.strip("/"), f"operatord-test-{os.getpid()}"))
                    break
    if not made:
        raise Unavailable("no cgroup hierarchy that systemd could use is mounted at /sys/fs/cgroup")
    for directory in made:
        try:
            os.mkdir(directory)
        except OSError as error:
            raise Unavailable(f"no cgroup can be made: {error}") from None
    return made


def remove_cgroups(directories):
    for top in directories:
        for directory, _, _ in os.walk(top, topdown=False):
            try:
                os.rmdir(directory)
            except OSError:
                pass


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


class Machine:
    """A booted machine; raises Unavailable with what it said when it does not come up."""

    def __init__(self, build, directory):
        self.directory = directory
        self.leader = None
        stage, top = os.path.join(directory, "stage"), os.path.join(directory, "top")
        root = debian_root("systemd", PACKAGES, TOOLS)
        os.mkdir(top)
        done = subprocess.run(["make", "-s", "-C", build, "install", f"DESTDIR={stage}"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed("make install failed:\n" + done.stderr)
        self.stage = stage
        self.cgroups = make_cgroups()
        self.log_path = os.path.join(directory, "console.log")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "--propagation=private", "sh", "-c", BOOT, "boot", root, stage, top, *self.cgroups],
                env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            wait_for("a booted systemd", self._booted, seconds=60, pause=0.1)
        except Failed as error:
            said = self.console()
            self.stop()
            raise Unavailable(f"{error}; the container said: {said[-1000:] or 'nothing'}") from None

    def _booted(self):
        if self.process.poll() is not None:
            raise Failed(f"systemd-nspawn left with {self.process.returncode}")
        self.leader = next(iter(children_of(self.process.pid)), None)
        return self.leader and self.run("systemctl", "is-system-running", check=False).stdout.strip() in ("running", "degraded")

    def console(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def run(self, *command, check=True, stdin=None, seconds=60):
        """A command inside; what it printed, and its exit code."""
        done = subprocess.run(["nsenter", "--target", str(self.leader), "--all", "--", *command], input=stdin or "",
                              capture_output=True, text=True, timeout=seconds, check=False,
                              env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"})
        if check and done.returncode != 0:
            raise Failed(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr or done.stdout}")
        return done

    def request(self, method, path, body=None):
        """A request to the development server inside, as its administrator."""
        done = subprocess.run(["nsenter", "--target", str(self.leader), "--net", "--", sys.executable, os.path.join(HERE, "request.py"),
                               self.path("/root/kubeconfig"), method, path],
                              input=json.dumps(body) if body else "", capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            raise Failed(done.stderr.strip())
        return json.loads(done.stdout)

    def path(self, inside):
        """The same file seen from outside."""
        return f"/proc/{self.leader}/root{inside}"

    def write(self, inside, text):
        os.makedirs(os.path.dirname(self.path(inside)), exist_ok=True)
        with open(self.path(inside) + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(inside) + ".new", 0o644)
        os.rename(self.path(inside) + ".new", self.path(inside))

    def show(self, unit, *names):
        """Properties of a unit: a dictionary of strings."""
        out = self.run("systemctl", "show", unit, "--property", ",".join(names)).stdout
        return dict(line.split("=", 1) for line in out.splitlines() if "=" in line)

    def journal(self, unit):
        """The unit's lines in the journal: dictionaries."""
        self.run("journalctl", "--sync")
        out = self.run("journalctl", "--unit", unit, "--output=json", "--no-pager").stdout
        return [json.loads(line) for line in out.splitlines()]

    def processes(self, unit):
        """{pid as seen inside: command line} of the processes in the unit's cgroup."""
        done = self.run("sh", "-c", 'for p in $(cat "/sys/fs/cgroup$0/cgroup.procs" 2>/dev/null); do '
                        'echo "$p $(tr "\\0" " " < /proc/$p/cmdline)"; done', self.show(unit, "ControlGroup")["ControlGroup"] or "/none")
        return {int(pid): title.strip() for pid, title in (line.split(" ", 1) for line in done.stdout.splitlines())}

    def stop(self):
        if self.leader and self.process.poll() is None:
            try:
                self.run("systemctl", "poweroff", check=False, seconds=20)
            except (subprocess.TimeoutExpired, OSError):
                pass
        deadline = time.monotonic() + 20
        while self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        if self.process.poll() is None:
            if self.leader:
                os.kill(self.leader, signal.SIGKILL)
            self.process.kill()
        self.process.wait()
        wait_for("no cgroup left", lambda: remove_cgroups(self.cgroups) or not any(map(os.path.exists, self.cgroups)), seconds=10)
