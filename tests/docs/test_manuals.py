"""The manuals say what the programs do: their options, verbs, exit codes, keys, variables and helpers, no more and no fewer."""

import os
import re
import shutil
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = {"operatord": "operatord.8", "operatorctl": "operatorctl.1", "operatord-devserver": "operatord-devserver.1"}


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as file:
        return file.read()


def page(name):
    return read("man", name).replace("\\-", "-").replace("\\(dq", '"').replace("\\(aq", "'").replace("\\&", "")


def output(build, *words):
    done = subprocess.run([os.path.join(build, words[0]), *words[1:]], capture_output=True, text=True, timeout=30, check=True)
    return done.stdout


def section(text, title, level="Sh"):
    found = re.search(rf"^\.{level} {title}\n(.*?)(?=^\.S[hs] |\Z)", text, re.M | re.S)
    assert found, title
    return found[1]


@pytest.mark.parametrize("name", [*PAGES.values(), "operatord.yaml.5"])
def test_pages_are_well_formed(name):
    if not shutil.which("mandoc"):
        pytest.skip("mandoc is not installed (scripts/packages)")
    done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", os.path.join(TOP, "man", name)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert read("man", name).startswith('.\\" SPDX-License-Identifier')


@pytest.mark.parametrize("program", PAGES)
def test_options_are_those_of_the_help(build, program):
    text = page(PAGES[program])
    told = set(re.findall(r"--[a-z-]+", output(build, program, "--help")))
    items = set(re.findall(r"^\.It Fl (?:\w , Fl )?(-[a-z-]+)", text, re.M))
    assert {"-" + item for item in items} == told


@pytest.mark.parametrize("program", ["operatord", "operatorctl"])
def test_exit_codes_are_those_of_the_help(build, program):
    told = re.search(r"Exit codes: (.*?)\.\n", output(build, program, "--help"), re.S)[1]
    items = re.findall(r"^\.It (\d+)", section(page(PAGES[program]), "EXIT STATUS"), re.M)
    assert items == re.findall(r"\b\d+\b", told)


def test_verbs_are_those_of_the_help(build):
    told = re.search(r"Verbs:\n(.*?)\n\n", output(build, "operatorctl", "--help"), re.S)[1]
    assert re.findall(r"^\.It Cm (\w+)", page("operatorctl.1"), re.M) == re.findall(r"^  (\w+)", told, re.M)


def test_keys_are_those_of_the_schema(build):
    done = subprocess.run([os.path.join(TOP, "scripts/man-keys"), "--check", build], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_helpers_are_those_that_are_defined():
    defined = {name for name in re.findall(r'"def (\w+)', read("common/template/program.c")) if not name.startswith("_")} - {"tostring"}
    items = set(re.findall(r"^\.It Cm (\w+)", section(page("operatord.yaml.5"), "Helpers", "Ss"), re.M))
    assert items == defined | {"spread"}


def test_refused_words_are_those_that_are_refused():
    source = re.search(r"refused\[\] = \{(.*?)\n\};", read("common/template/words.c"), re.S)[1]
    refused = set(re.findall(r'^\t\{"(\w+)"', source, re.M))
    text = section(page("operatord.yaml.5"), "What is refused", "Ss")
    told = set(re.findall(r"[\w$]+", " ".join(re.findall(r"^\.It Cm (.*)", text, re.M))))
    few = {"spread", "have_literal_numbers", "have_decnum", "get_prog_origin", "get_jq_origin"}  # nobody looks for these
    assert refused - few <= told
    assert {word for word in told if len(word) > 1} - refused <= {"$ENV", "$self", "$related", "true", "if", "without", "else"}


def test_the_example_passes_the_check(build, tmp_path):
    text = re.search(r"^\.Bd -literal\n(.*?)^\.Ed", page("operatord.yaml.5"), re.M | re.S)[1]
    path = tmp_path / "example.yaml"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o644)
    output(build, "operatord", "-c", str(path), "--check")
