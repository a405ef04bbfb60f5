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
except ModuleNotFoundError as missing:
    sys.exit(checkout.missing(missing))

PLAN = plan(workflow, config)
STUDY, KIND = PLAN.name, PLAN.kind


wildcard_constraints:
    study=STUDY,
    scenario="[^/]+",
    interpretation="[^/]+",
    data_interpretation="[^/]+",
    system="[^/]+",
    snr="[^/]+dB",
    data_seed="data-[0-9]+",
    realisation="[0-9]+",
    method="[^/]+",
    criterion="[^/]+",
    seeds="seeds?-[0-9]+(-to-[0-9]+)?",
    definition="(problems|methods|steps)/.+",
    digest="[0-9a-f]{16}",


rule define:
    """Write what a step depends on besides its input files: settings, code, versions and files that no step makes."""
    output:
        "data/{study}/{definition}-{digest}.json",
    log:
        "logs/{study}/define/{definition}-{digest}.log",
    localrule: True
    params:
        content=lambda w: PLAN.content(f"data/{w.study}/{w.definition}"),
    run:
        call("define", output=output, params=params, log=log)
