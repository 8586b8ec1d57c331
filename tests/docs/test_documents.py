"""What the documents show works: configurations in them pass the check, commands in them exist, links lead somewhere."""

import os
import re
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = ["README.md", "CODING.md", "NEWS.md", "docs/threat-model.md", "docs/monitoring.md"]


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        return file.read()


def blocks(name, language):
    return re.findall(rf"^```{language}\n(.*?)^```", read(name), re.M | re.S)


def run(build, program, *arguments):
    return subprocess.run([os.path.join(build, program), *arguments], capture_output=True, text=True, timeout=30, check=False,
                          stdin=subprocess.DEVNULL)


def test_the_readmes_configurations_pass_the_check(build, tmp_path):
    found = blocks("README.md", "yaml")
    assert found
    for i, text in enumerate(found):
        path = tmp_path / f"{i}.yaml"
        path.write_text(text, encoding="utf-8")
        path.chmod(0o644)
        done = run(build, "operatord", "-c", str(path), "--check")
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("program", ["operatord", "operatorctl", "operatord-devserver"])
def test_programs_answer_help_and_version(build, program):
    assert run(build, program, "--version").stdout.startswith(program + " ")
    done = run(build, program, "--help")
    assert done.returncode == 0 and "usage:" in done.stdout.lower()
    assert run(build, program, "--no-such-option").returncode == 64


def test_the_readmes_commands_exist(build):
    for text in blocks("README.md", "console"):
        for line in text.splitlines():
            if not line.startswith("$ "):
                continue
            words = line[2:].replace("export ", "").split()
            if words[0].startswith("./"):
                assert os.access(os.path.join(TOP, words[0]), os.X_OK), line
            if words[0] == "operatorctl":
                assert words[1] in run(build, "operatorctl", "--help").stdout, line
            for word in words:
                if word.startswith("examples/"):
                    assert os.path.exists(os.path.join(TOP, word)), line


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_and_files_exist(name):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", read(name)):
        assert os.path.exists(os.path.join(TOP, os.path.dirname(name), target)), target


def test_the_readme_names_each_label():
    text = read("README.md")
    labels = re.findall(r'define LABEL_\w+ +NAME_PREFIX "(/[a-z-]+)"', read("common/kube/names.h"))
    assert labels
    for label in labels:
        assert "operatord.io" + label in text, label


def test_the_metrics_are_those_of_the_table(build):
    done = subprocess.run([os.path.join(TOP, "scripts/metrics-doc"), "--check", os.path.abspath(build)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
