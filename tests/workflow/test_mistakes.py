"""Mistakes in settings: one line, before any job."""

import pytest
from project import MADE, QUICK

S1 = "config/systems/S1.yaml"
MINE = "mine.yaml"


def mistake(project, *arguments):
    """Return the message, which is the last that is printed."""
    printed = project.snakemake(*arguments, code=1)
    assert "Traceback" not in printed
    assert [path for path in MADE[:-1] if (project / path).exists()] == []
    rest, told, message = printed.partition("narxbench: ")
    assert told and rest.endswith("\n") and "narxbench: " not in message
    return told + message.removesuffix("\n")


@pytest.mark.parametrize(
    ("overlay", "key", "told"),
    [
        ("evaluation: 900", "evaluation", "unknown key; allowed: reading, systems, "),
        ("evaluation: 900", "evaluation", "did you mean 'evaluations'?"),
        ("systems: [S1, S22]", "systems[1]", "did you mean 'S2'?"),
        ("snr_db: [30, high]", "snr_db[1]", "found 'high' (text); allowed: a number"),
        ("seeds: -4", "seeds", "found -4; allowed: a positive whole number"),
        ("systems: [S1, S1]", "systems[1]", "found 'S1' twice"),
        ("searches: {ga: {settings: {mutation_rate: 0.1}}}", "searches.ga.settings.mutation_rate", "unknown key"),
        ("data: {excitation: {kind: sine}}", "data.excitation", "allowed: one of "),
        ("seeds: 4\nseeds: 5", "line 2, column 1", "the key 'seeds' is given twice (first in line 1)"),
        ("seeds: [1, 2\nsnr_db: [30]", "line 2, column 7", "expected ',' or ']'"),
        ("- seeds", "found ['seeds']", "allowed: a mapping (KEY: VALUE)"),
    ],
)
def test_mistake_in_an_overlay(clean, overlay, key, told):
    clean.write(MINE, overlay)
    line = mistake(clean, *QUICK, MINE)
    assert line.startswith(f"narxbench: {MINE}: {key}")
    assert told in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("seeds: 40", "seeds: 40\nseeds: 41", "the key 'seeds' is given twice"),
        ("seeds: 40", "seeds: [40", "line "),
        ("seeds: 40", "sedes: 40", "sedes: unknown key"),
    ],
)
def test_mistake_in_the_configuration_itself(clean, old, new, told):
    clean.edit("config/config.yaml", f"\n{old}\n", f"\n{new}\n")
    line = mistake(clean)
    assert line.startswith("narxbench: config/config.yaml: ")
    assert told in line


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("degree: 2", "degree: 0", "degree: found 0; allowed: "),
        ("degree: 2", "degre: 2", "did you mean 'degree'?"),
        ("degree: 2", "degree: 2\ndegree: 2", "the key 'degree' is given twice"),
        ("degree: 2", "degree: [2", "line "),
    ],
)
def test_mistake_in_a_system_file(clean, old, new, told):
    clean.edit(S1, f"\n{old}\n", f"\n{new}\n")
    line = mistake(clean, *QUICK)
    assert f"{S1}: " in line
    assert told in line


def test_missing_config_file(clean):
    line = mistake(clean, *QUICK, "config/nowhere.yaml")
    assert line == "narxbench: config/nowhere.yaml: cannot be read: No such file or directory"


def test_target_taken_for_a_config_file(clean):
    assert mistake(clean, *QUICK, "README.md").startswith("narxbench: README.md: ")


def test_mistake_on_the_command_line(clean):
    line = mistake(clean, *QUICK, "--config", "seeds=-4")
    assert line.startswith("narxbench: command line (--config): seeds: found -4; allowed: ")


@pytest.mark.parametrize(
    "setting",
    ["seeds=[1, 2]", "snr_db=[30]", "statistics={threshold: 0.8}", "data={excitation: {kind: gaussian, sd: 0.5}}"],
)
def test_lists_and_mappings_on_the_command_line(clean, setting):
    assert "search" in clean.planned(*QUICK, "--config", setting)
