# The study that the settings ask for, and what all its rules share.
#
# PLAN answers what rules cannot say themselves: which combinations of wildcards the settings mean (`snakemake matrix` writes
# them as a table), and the settings of one combination. A step's parameters are those settings and what it is made
# by: the digest of its code, versions of packages, and digests of files that no step makes (made_by). So Snakemake makes
# again what another setting, code, version or file changes.
import sys

import checkout

try:
    from narxbench._pipeline.code import made_by
    from narxbench._pipeline.plan import DESIGN_CHOICES, HERE, MAIN_STUDY, REFERENCE
    from narxbench._pipeline.reference import kept_files, kept_manifest, to_verify
    from narxbench._pipeline.session import plan, say
    from narxbench._pipeline.sources import Sources
    from narxbench._pipeline.steps import call
    from narxbench._studies.paper.kept_files import kept_paths
except ModuleNotFoundError as missing:
    sys.exit(checkout.missing(missing))

PLAN = plan(workflow, config)
SETTINGS = PLAN.settings
STUDY, KIND = SETTINGS["study"], SETTINGS["kind"]
SYSTEM_FILES = expand(f"{HERE}config/systems/{{system}}.yaml", system=PLAN.systems)
# The page that people read; that of the paper is the main one of the project.
PAGE = "reports/report.html" if STUDY == MAIN_STUDY else f"reports/{STUDY}/report.html"
# Command, date, commit and time of a run, written once for a set of results; it differs from run to run.
RUN_RECORD = f"reports/{STUDY}/run.json"


wildcard_constraints:
    study=STUDY,
    scenario="[^/]+",
    system="[^/]+",
    snr="[^/]+dB",
    data_seed="data-[0-9]+",
    realisation="[0-9]+",
    method="[^/]+",
    criterion="[^/]+",
    seeds="seeds?-[0-9]+(-to-[0-9]+)?",


def in_report(category, pattern, names, systems=None):
    """Return the files of some names, which Snakemake's own report shows, labelled by name, system and SNR.

    A system stands at the end of a name, or in ``systems`` by name.
    """
    files = []
    for name in names:
        label, _, system = name.rpartition("_")
        labels = {"Name": label, "System": system}
        if system not in PLAN.systems:
            labels = {"Name": name, "System": (systems or {}).get(name, "all")}
        if category == "Figures":
            labels["SNR"] = f"{min(SETTINGS['snr_db']):g} dB"
        caption = f"../report/{category.lower()}.rst"
        files.append(report(pattern.format(study=STUDY, name=name), category=category, caption=caption, labels=labels))
    return files
