# The combinations of the settings as a table: a row for each job of runs, with its wildcards.


rule matrix:
    """Write which combinations of system, SNR, method, criterion and seeds exist, as a table."""
    output:
        f"data/{STUDY}/matrix.csv",
    log:
        f"logs/{STUDY}/matrix.log",
    localrule: True
    params:
        table=lambda w: PLAN.matrix.csv(),
    run:
        call("matrix", output=output, params=params, log=log)
