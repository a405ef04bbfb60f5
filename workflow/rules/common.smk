# The study that the settings ask for, and what all its rules share.
#
# PLAN answers what rules cannot say themselves: which combinations of wildcards exist (`snakemake matrix` writes them as
# a table), and what a step depends on besides files: its definition. All else stands in the rules of each kind of study.
import sys

import checkout

try:
    from narxbench._pipeline.plan import DESIGN_CHOICES, HERE, REFERENCE, in_order_of_causes
    from narxbench._pipeline.session import plan, say
    from narxbench._pipeline.steps import call
    from narxbench._studies.paper.kept import kept_paths
except ModuleNotFoundError as missing:
    sys.exit(checkout.missing(missing))

PLAN = plan(workflow, config)
STUDY, KIND = PLAN.name, PLAN.kind
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
    definition="(problems|methods|steps)/.+",
    digest="[0-9a-f]{16}",


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
            labels["SNR"] = f"{PLAN.study.figures.snr_db:g} dB"
        caption = f"../report/{category.lower()}.rst"
        files.append(report(pattern.format(study=STUDY, name=name), category=category, caption=caption, labels=labels))
    return files
