"""Debian roots by debootstrap, kept in $OPERATORD_TEST_CACHE: for tests that need a system of their own."""

import os
import shutil
import subprocess

SUITE = "bookworm"


class Unavailable(Exception):
    """What a test needs can't be had on this machine; the text says why."""


def cache_directory():
    return os.environ.get("OPERATORD_TEST_CACHE") or os.path.expanduser("~/.cache/operatord-tests")


def apt_source():
    """Where apt of this machine has the suite from, and through which proxy: (mirror, environment)."""
    targets = subprocess.run(["apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"],
                             capture_output=True, text=True, check=False).stdout
    mirrors = [line.split()[2] for line in targets.splitlines() if line.startswith(f"{SUITE} main ")]
    proxy = subprocess.run(["apt-config", "shell", "proxy", "Acquire::http::Proxy"], capture_output=True, text=True, check=False).stdout
    environment = dict(os.environ)
    if proxy.startswith("proxy='http"):
        environment.setdefault("http_proxy", proxy.split("'")[1])
    if not mirrors:
        raise Unavailable(f"apt has no mirror of Debian {SUITE}")
    return mirrors[0], environment


def debian_root(name, packages=(), tools=()):
    """The directory of a Debian root with these packages, made if it is not there: about a minute, and the network. tools must be installed here."""
    if os.geteuid() != 0:
        raise Unavailable("only root can make containers here")
    missing = [tool for tool in ("debootstrap", *tools) if not shutil.which(tool)]
    if missing:
        raise Unavailable(f"not installed: {', '.join(missing)}")
    with open("/etc/os-release", encoding="utf-8") as file:
        if f"VERSION_CODENAME={SUITE}" not in file.read():
            raise Unavailable(f"programs built here need not run in the Debian {SUITE} root")
    root = os.path.join(cache_directory(), f"{SUITE}-{name}")
    stamp = os.path.join(root, "var/lib/operatord-test-packages")
    if os.path.exists(stamp):
        with open(stamp, encoding="ascii") as file:
            if file.read().split() == list(packages):
                return root
        shutil.rmtree(root)
    os.makedirs(cache_directory(), exist_ok=True)
    making = f"{root}.{os.getpid()}"
    mirror, environment = apt_source()
    include = ["--include=" + ",".join(packages)] if packages else []
    done = subprocess.run(["debootstrap", "--variant=minbase", *include, SUITE, making, mirror],
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, env=environment)
    if done.returncode != 0:
        shutil.rmtree(making, ignore_errors=True)
        raise Unavailable("debootstrap failed: " + "\n".join((done.stdout + done.stderr).splitlines()[-5:]))
    with open(os.path.join(making, "var/lib/operatord-test-packages"), "w", encoding="ascii") as file:
        file.write(" ".join(packages))
    try:
        os.rename(making, root)
    except OSError:  # another run was faster
        shutil.rmtree(making)
    return root
