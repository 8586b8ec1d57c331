"""The programs under test, run as processes: started, watched, stopped, with their output kept in files."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request


class Failed(AssertionError):
    """Something did not come to pass in time; the text says what was waited for and what was seen."""


def wait_for(what, probe, seconds=20.0, pause=0.02):
    """Polls probe() until it gives a true value, which is returned. An exception counts as not yet."""
    deadline = time.monotonic() + seconds
    seen = None
    while True:
        try:
            value = probe()
            if value:
                return value
            seen = value
        except Exception as error:  # noqa: BLE001 - whatever it is, it is shown when time is up
            seen = f"{type(error).__name__}: {error}"
        if time.monotonic() > deadline:
            raise Failed(f"not seen within {seconds:g} s: {what} (last: {seen!r})")
        time.sleep(pause)


class Program:
    """One process with its output in DIR/NAME.log; stderr, a file or descriptor, takes the place of the log for what it writes there."""

    def __init__(self, directory, name, arguments, environment=None, stderr=None, **popen):
        self.name = name
        self.log_path = os.path.join(directory, name + ".log")
        self.log_file = open(self.log_path, "ab")
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=self.log_file,
                                        stderr=self.log_file if stderr is None else stderr, env=environment, **popen)
        self.pid = self.process.pid

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def running(self):
        return self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=10):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} (pid {self.pid}) still runs after {seconds} s:\n{self.tail()}") from None

    def stop(self, seconds=30):
        """SIGTERM, the exit code; SIGKILL when it does not leave in time, which fails."""
        if self.running():
            self.signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failed(f"{self.name} did not stop within {seconds} s:\n{self.tail()}") from None
        finally:
            self.log_file.close()

    def tail(self, lines=30):
        return "\n".join(self.log().splitlines()[-lines:])


class DevServer(Program):
    """operatord-devserver on a free loopback port; .kubeconfig is ready when the constructor returns."""

    def __init__(self, build, directory, *arguments):
        self.kubeconfig = os.path.join(directory, "kubeconfig")
        super().__init__(directory, "devserver", [os.path.join(build, "operatord-devserver"),
                         "--listen", "127.0.0.1:0", "--kubeconfig", self.kubeconfig, *arguments])
        wait_for("the development server's kubeconfig", self._ready)

    def _ready(self):
        if not self.running():
            raise Failed("operatord-devserver ended:\n" + self.tail())
        return os.path.exists(self.kubeconfig)


class Operatord(Program):
    """operatord with its control socket in DIR."""

    def __init__(self, build, directory, config, *arguments, kubeconfig=None, environment=None, name="operatord", stderr=None,
                 **popen):
        self.build = build
        self.control = os.path.join(directory, name + ".sock")
        env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": directory}
        if kubeconfig:
            env["KUBECONFIG"] = kubeconfig
        env.update(environment or {})
        self.environment = env
        super().__init__(directory, name, [os.path.join(build, "operatord"), "-c", config,
                         "--control", self.control, *arguments], environment=env, stderr=stderr, **popen)

    def ctl(self, *arguments, check=True, seconds=30):
        """operatorctl against this one; its standard output."""
        done = subprocess.run([os.path.join(self.build, "operatorctl"), "--control", self.control, *arguments],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds,
                              env=self.environment, check=False)
        if check and done.returncode != 0:
            raise Failed(f"operatorctl {' '.join(arguments)}: exit code {done.returncode}: {done.stderr or done.stdout}")
        return done.stdout if check else done

    def status(self):
        return json.loads(self.ctl("status", "-o", "json"))

    def workers(self):
        """{name: the worker's entry in status}"""
        return {worker["name"]: worker for worker in self.status()["workers"]}

    def wait_live(self, *names, seconds=20):
        def live():
            if not self.running():
                raise Failed("operatord ended:\n" + self.tail())
            states = {name: worker["state"] for name, worker in self.workers().items()}
            return all(states.get(name) == "live" for name in names)
        try:
            wait_for(f"workers {', '.join(names)} live", live, seconds)
        except Failed as error:
            raise Failed(f"{error}\n{self.tail()}") from None


def http_get(url, seconds=5):
    """(status, text, headers) of a plain HTTP request."""
    try:
        with urllib.request.urlopen(url, timeout=seconds) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


def free_port():
    """A loopback port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
