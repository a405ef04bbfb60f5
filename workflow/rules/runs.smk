# The runs of all kinds of studies: a data set for each problem, and a job for each run seed of a method on it.
#
# A scenario is the interpretation of what the paper leaves open, or the situation in a comparison of methods.

PROBLEM = "data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}"
RUN = "data/{study}/runs/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json"


rule simulate:
    """Simulate one system at one SNR, with the input and the noise of a scenario."""
    input:
        lambda w: local(PLAN.problem(w).recorded_files),
    output:
        f"{PROBLEM}.csv",
    log:
        "logs/{study}/simulate/{scenario}/{data_seed}/{system}/{snr}.log",
    localrule: True
    params:
        made_by=lambda w: made_by("simulate", PLAN.problem(w).recorded_files),
        simulation=lambda w: PLAN.problem(w).simulation,
    run:
        call("simulate", output=output, params=params, log=log)


use rule simulate as simulate_realisation with:
    output:
        f"{PROBLEM}/realisation-{{realisation}}.csv",
    log:
        "logs/{study}/simulate/{scenario}/{data_seed}/{system}/{snr}/realisation-{realisation}.log",


rule search:
    """Run one method on one problem with one seed, or with the seeds that share a job."""
    input:
        data=PLAN.data_sets(PROBLEM),
    output:
        RUN,
    log:
        "logs/{study}/search/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.log",
    resources:
        mem_mb=lambda w, attempt: attempt * PLAN.memory_mb(w.method),
        runtime=PLAN.minutes,
    params:
        made_by=lambda w: made_by("search", method=PLAN.run(w)["algorithm"], criterion=w.criterion),
        run=lambda w: PLAN.run(w),
        seeds=lambda w: PLAN.seeds(w),
    run:
        call(
            "search",
            input=input,
            output=output,
            params=params,
            log=log,
            simulation=PLAN.problem(wildcards).simulation,
        )


# The prefix that a workflow which uses this one as a module gives to results; "" without one.
FOLDER = rules.simulate.output[0].removesuffix(f"{PROBLEM}.csv")
