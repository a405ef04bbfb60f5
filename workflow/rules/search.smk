# From data sets to runs, and to the summary of each condition.


rule search:
    """Run one method on one problem with one seed, or with the seeds that share a job."""
    input:
        data=lambda w: PLAN.data_files(w.condition, PLAN.blocks[w.condition][w.seeds]),
    output:
        f"{PLAN.data}/runs/{{condition}}/{{seeds}}.json",
    log:
        f"{PLAN.logs}/search/{{condition}}/{{seeds}}.log",
    params:
        # One function, for it is called for each of thousands of jobs.
        search=lambda w: PLAN.search(w.condition, w.seeds),
    run:
        call("search", input=input, output=output, params=params, log=log)


rule summarise:
    """Summarise the runs of one condition."""
    input:
        runs=lambda w: PLAN.run_files[w.condition],
        data=lambda w: PLAN.data_files(w.condition),
    output:
        f"{PLAN.data}/conditions/{{condition}}.json",
    log:
        f"{PLAN.logs}/summarise/{{condition}}.log",
    localrule: True
    params:
        seeds=lambda w: PLAN.seeds[w.condition],
        condition=lambda w: PLAN.summary(w.condition),
        code=lambda w: PLAN.code_of("summarise", w.condition),
    run:
        call("summarise", input=input, output=output, params=params, log=log)
