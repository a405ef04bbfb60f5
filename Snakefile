# The whole experiment: data, runs, summaries, tables, figures and the report.
#
#   snakemake --cores 8                                     everything
#   snakemake --cores 2 --configfile config/quick.yaml      a first try
#   snakemake --cores 1 reports/tables/fitness_S1.md        one table and what it needs
#   snakemake --cores 8 publish                             everything, and the copy of it that the repository keeps
#   snakemake --cores 8 verify                              everything, compared with what the repository keeps
from snakemake.exceptions import LockException
from snakemake.utils import min_version

min_version("9.27")


include: "workflow/rules/interruptions.smk"
include: "workflow/rules/common.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/analysis.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/publish.smk"
include: "workflow/rules/manifest.smk"
include: "workflow/rules/fidelity.smk"


# What a cluster does are the searches; all else is short, and costs less here than to start it elsewhere.
localrules:
    all,
    simulate,
    aggregate,
    table_test_systems,
    table_search_settings,
    table_fitness,
    table_comparison,
    tidy_tables,
    figure_convergence,
    figure_term_frequency,
    claims,
    statistics,
    compare,
    report,
    made,
    publish,
    keep_table,
    keep_figure,
    keep_fidelity,
    fidelity,
    fidelity_cells,
    manifest,
    verify,
    keep_manifest,


rule all:
    """Every table, every figure and the report."""
    default_target: True
    input:
        results(),
        "reports/made.md",
        "reports/manifest.csv",


onstart:
    # Two that start in the same moment both find no lock of Snakemake, but only one of them can hold a file.
    if workflow.is_main_process and workflow.execution_settings.lock and not hold(HELD):
        # At its end Snakemake removes all locks, those of the other included, unless it does not know their folder.
        workflow.persistence._lockdir = ""
        raise LockException()
    heed_signals_while_working()
    # By default each scheduling round arms a timer that starts another one, and each round looks at every waiting job:
    # with thousands of short local jobs this costs more than the searches. The limiter protects remote schedulers only.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None
    elif seeds_per_job is None:
        # A --config on the command line has replaced the profile's.
        stop(
            "command line (--config): seeds_per_job: missing; on a cluster, give the seeds of a job: seeds_per_job=50"
        )
