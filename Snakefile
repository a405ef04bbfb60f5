# The whole experiment: data, runs, summaries, tables, figures and the report.
#
#   snakemake --cores 8                                     everything
#   snakemake --cores 2 --configfile config/quick.yaml      a first try
#   snakemake --cores 1 reports/tables/fitness_S1.md        one table and what it needs
#   snakemake --cores 8 publish                             everything, and the copy of it that the repository keeps
from snakemake.utils import min_version

min_version("9.27")


include: "workflow/rules/common.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/analysis.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/publish.smk"
include: "workflow/rules/fidelity.smk"


rule all:
    """Every table, every figure and the report."""
    default_target: True
    input:
        run_files(),
        "reports/report.html",
        "reports/made.md",
        "reports/claims.json",
        "reports/statistics.json",
        table_files(),
        figure_files(),
        "reports/fidelity.md",
        fidelity_files(),


onstart:
    # By default each scheduling round arms a timer that starts another one, and each round looks at every waiting job:
    # with thousands of short local jobs this costs more than the searches. The limiter protects remote schedulers only.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None
