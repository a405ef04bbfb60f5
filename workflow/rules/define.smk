# What a step depends on besides its input files, as a file of its own, whose name has the digest of its content.


rule define:
    """Write what a step depends on besides its input files: settings, code, versions and files that no step makes."""
    output:
        "data/{study}/{definition}-{digest}.json",
    log:
        "logs/{study}/define/{definition}-{digest}.log",
    localrule: True
    params:
        content=lambda w: PLAN.content(f"data/{w.study}/{w.definition}-{w.digest}.json"),
    run:
        call("define", output=output, params=params, log=log)
