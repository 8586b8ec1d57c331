"""What the programs say to those who got something wrong: short, with the way out."""

import os
import subprocess

import pytest


def run(build, *words, env=None):
    return subprocess.run([os.path.join(build, words[0]), *words[1:]], capture_output=True, text=True, timeout=30, check=False,
                          stdin=subprocess.DEVNULL, env=env)


def config(tmp_path, text, name="a.yaml"):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
    return str(path)


def controller(resource):
    return f"version: 1\ncontrollers:\n- {{name: a, resource: {resource}}}\n"


def test_one_controller_is_one(build, tmp_path):
    path = config(tmp_path, controller("webs.v1.example.com"))
    assert run(build, "operatorctl", "check", path).stdout == f"{path}: ok, 1 controller\n"
    assert run(build, "operatord", "-c", path, "--check").stdout == f"{path}: ok, 1 controller\n"


@pytest.mark.parametrize("resource, wanted, code", [
    ("websites.web", "write PLURAL.VERSION.GROUP", 78),
    ("websites.example.operator", "write websites.VERSION.example.operator", 78),
    ("websites.web.example.com", "write websites.VERSION.web.example.com", 0),  # Kubernetes takes "web" for a version
    ("web.example.com/v1alpha1", "PLURAL.v1alpha1.web.example.com if this is group and version", 78),
])
def test_a_resource_without_its_version_or_plural(build, tmp_path, resource, wanted, code):
    done = run(build, "operatorctl", "check", config(tmp_path, controller(resource)))
    assert done.returncode == code and wanted in done.stderr, done.stderr


@pytest.mark.parametrize("program", ["operatord", "operatorctl"])
def test_an_unknown_option_says_where_the_options_are(build, program):
    done = run(build, program, "--nonsense")
    assert done.returncode == 64
    assert done.stderr.startswith(f"{program}: unrecognized option") and f"See {program} --help." in done.stderr, done.stderr


@pytest.mark.parametrize("form", ["wide", "name"])
def test_status_refuses_outputs_that_it_does_not_have(build, form):
    done = run(build, "operatorctl", "status", "-o", form)
    assert done.returncode == 64 and "table and json" in done.stderr


def test_standard_input_is_no_configuration(build):
    for words in (["operatorctl", "check", "-"], ["operatord", "-c", "-", "--check"]):
        done = run(build, *words)
        assert done.returncode == 78 and "standard input" in done.stderr, done.stderr


def test_a_file_of_conf_d_is_not_a_main_file(build, tmp_path):
    path = config(tmp_path, controller("webs.v1.example.com"), "conf.d/a.yaml")
    config(tmp_path, controller("sites.v1.example.com").replace("name: a", "name: b"), "conf.d/b.yaml")
    done = run(build, "operatorctl", "check", path)
    assert done.returncode == 0, done.stderr
    assert "ok, 1 controller\n" in done.stdout
