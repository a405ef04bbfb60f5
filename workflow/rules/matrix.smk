# The combinations of the settings as a table: a row for each job of runs, with its wildcards.


rule matrix:
    """Write which combinations of system, SNR, method, criterion and seeds exist, as a table."""
    output:
        f"data/{STUDY}/matrix.csv",
    log:
        f"logs/{STUDY}/matrix.log",
    localrule: True
    params:
        made_by=made_by("matrix"),
        settings=SETTINGS,
    run:
        call("matrix", output=output, log=log, jobs=PLAN.jobs)
