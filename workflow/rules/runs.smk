# The runs of all kinds of studies: a data set for each problem, and a job for each run seed of a method on it.
#
# A scenario is the interpretation of what the paper leaves open, or the situation in a comparison of methods.


rule simulate:
    """Simulate one system at one SNR, with the input and the noise of a scenario."""
    input:
        definition=PLAN.defined("data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}"),
        recorded=lambda w: local(PLAN.recorded("data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}", w)),
    output:
        "data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}.csv",
    log:
        "logs/{study}/simulate/{scenario}/{data_seed}/{system}/{snr}.log",
    localrule: True
    run:
        call("simulate", input=input, output=output, wildcards=wildcards, log=log)


use rule simulate as simulate_realisation with:
    output:
        "data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}/realisation-{realisation}.csv",
    log:
        "logs/{study}/simulate/{scenario}/{data_seed}/{system}/{snr}/realisation-{realisation}.log",


rule search:
    """Run one method on one problem with one seed, or with the seeds that share a job."""
    input:
        data=PLAN.data_sets("data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}"),
        run=PLAN.defined(
            "data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}",
            "data/{study}/methods/{scenario}/{method}/{criterion}",
        ),
    output:
        "data/{study}/runs/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json",
    log:
        "logs/{study}/search/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.log",
    resources:
        mem_mb=lambda w, attempt: attempt * PLAN.memory_mb(w.method),
        runtime=PLAN.minutes(),
    params:
        seeds=PLAN.seeds_of,
    run:
        call("search", input=input, output=output, params=params, log=log)
