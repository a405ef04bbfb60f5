# A study from its settings to its page: data, runs, summaries, frames, tables, figures.
#
#   snakemake --cores 8                                             the paper's study
#   snakemake --cores 2 --configfile config/quick.yaml              a first try
#   snakemake --cores 8 --configfile config/interpretations.yaml    what the paper leaves open
#   snakemake --cores 8 --configfile config/methods.yaml            which method to use
#   snakemake --cores 8 --configfile config/measured.yaml           a model of measured data
#   snakemake --cores 8 verify                                      the results, compared with those of the reference
#   snakemake --cores 8 update_reference                            the study, and new reference results of it
from snakemake.utils import min_version

min_version("9.27")


include: "workflow/rules/common.smk"


if PLAN.study.page == "measured":

    include: "workflow/rules/measured.smk"

else:

    include: "workflow/rules/data.smk"
    include: "workflow/rules/search.smk"
    include: "workflow/rules/analysis.smk"
    include: "workflow/rules/report.smk"


include: "workflow/rules/reference.smk"


# What a cluster does are the searches; all else is short, and costs less here than to start it elsewhere.
localrules:
    all,
    run_info,
    manifest,
    verify,
    update_reference,


rule all:
    """Every table, every figure and the page."""
    default_target: True
    input:
        lambda w: PLAN.lost(),
        PLAN.from_summaries(),
        PLAN.run_info,
        PLAN.manifest,


WATCH = Watch(workflow, PLAN)


onstart:
    begin(workflow)
    WATCH.begin()


onerror:
    WATCH.end(success=False)


onsuccess:
    WATCH.end(success=True)
    print(f"narxbench: the page of this study is {PLAN.page}", file=sys.stderr)
