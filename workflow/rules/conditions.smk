# The summary of each condition of a study, paper or interpretations: what its runs have chosen.

PLAN.keep_finished(
    "data/{study}/conditions/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}.json",
    "data/{study}/runs/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json",
)


rule summarise:
    """Summarise the runs of one condition."""
    input:
        runs=PLAN.runs("data/{study}/runs/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json"),
        data=PLAN.data_sets("data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}"),
        run=PLAN.defined(
            "data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}",
            "data/{study}/methods/{scenario}/{method}/{criterion}",
        ),
        definition=PLAN.defined("data/{study}/steps/summarise/{criterion}"),
    output:
        "data/{study}/conditions/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}.json",
    log:
        "logs/{study}/summarise/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}.log",
    localrule: True
    params:
        seeds=PLAN.seeds_of,
    run:
        call("summarise", input=input, output=output, params=params, log=log)


SUMMARIES = PLAN.matrix.paths("data/{study}/conditions/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}.json")
# The data sets and runs that each summary stands for.
SOURCES = PLAN.sources(
    "data/{study}/conditions/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}.json",
    problem="data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}",
    runs="data/{study}/runs/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json",
)
