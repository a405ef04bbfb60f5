# The summary of each condition of a study, paper or interpretations: what its runs have chosen.

SUMMARY = "data/{study}/conditions/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}.json"
PLAN.keep_finished(SUMMARY, RUN)


rule summarise:
    """Summarise the runs of one condition."""
    input:
        runs=lambda w: expand(RUN, seeds=PLAN.blocks(w.method), **w),
        data=PLAN.data_sets(PROBLEM),
    output:
        SUMMARY,
    log:
        "logs/{study}/summarise/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}.log",
    localrule: True
    params:
        made_by=lambda w: made_by("summarise", criterion=w.criterion),
        run=lambda w: PLAN.run(w),
        seeds=lambda w: PLAN.seeds(w),
        threshold=SETTINGS["statistics"]["threshold"],
    run:
        problem = PLAN.problem(wildcards)
        call("summarise", input=input, output=output, params=params, log=log, simulation=problem.simulation)


SOURCES = Sources(PLAN, FOLDER, summary=SUMMARY, problem=PROBLEM, runs=RUN)
