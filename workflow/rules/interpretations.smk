# The study of what the paper leaves open: interpretations x data seeds x systems x SNRs x methods x criteria x seeds.
# The data of a run are those of the part of its interpretation that concerns them.


include: "published.smk"


PLAN.keep_finished(
    "data/{study}/conditions/{interpretation}/{data_seed}/{system}/{snr}/{method}/{criterion}.json",
    "data/{study}/runs/{interpretation}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json",
)


rule simulate:
    """Simulate one system at one SNR with the input and the noise of an interpretation."""
    input:
        definition=PLAN.defined("data/{study}/problems/{data_interpretation}/{data_seed}/{system}/{snr}"),
        recorded=lambda w: local(
            PLAN.recorded("data/{study}/problems/{data_interpretation}/{data_seed}/{system}/{snr}", w)
        ),
    output:
        "data/{study}/problems/{data_interpretation}/{data_seed}/{system}/{snr}.csv",
    log:
        "logs/{study}/simulate/{data_interpretation}/{data_seed}/{system}/{snr}.log",
    localrule: True
    run:
        call("simulate", input=input, output=output, wildcards=wildcards, log=log)


use rule simulate as simulate_realisation with:
    output:
        "data/{study}/problems/{data_interpretation}/{data_seed}/{system}/{snr}/realisation-{realisation}.csv",
    log:
        "logs/{study}/simulate/{data_interpretation}/{data_seed}/{system}/{snr}/realisation-{realisation}.log",


rule search:
    """Run one method on one problem with the seeds that share a job."""
    input:
        data=PLAN.data_sets("data/{study}/problems/{data_interpretation}/{data_seed}/{system}/{snr}"),
        run=PLAN.defined(
            "data/{study}/problems/{data_interpretation}/{data_seed}/{system}/{snr}",
            "data/{study}/methods/{interpretation}/{method}/{criterion}",
        ),
    output:
        "data/{study}/runs/{interpretation}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json",
    log:
        "logs/{study}/search/{interpretation}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.log",
    resources:
        mem_mb=lambda w, attempt: attempt * PLAN.memory_mb(w.method),
        runtime=PLAN.minutes(),
    params:
        seeds=PLAN.seeds_of,
    run:
        call("search", input=input, output=output, params=params, log=log)


rule summarise:
    """Summarise the runs of one condition."""
    input:
        runs=PLAN.runs(
            "data/{study}/runs/{interpretation}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json"
        ),
        data=PLAN.data_sets("data/{study}/problems/{data_interpretation}/{data_seed}/{system}/{snr}"),
        run=PLAN.defined(
            "data/{study}/problems/{data_interpretation}/{data_seed}/{system}/{snr}",
            "data/{study}/methods/{interpretation}/{method}/{criterion}",
        ),
        definition=PLAN.defined("data/{study}/steps/summarise/{criterion}"),
    output:
        "data/{study}/conditions/{interpretation}/{data_seed}/{system}/{snr}/{method}/{criterion}.json",
    log:
        "logs/{study}/summarise/{interpretation}/{data_seed}/{system}/{snr}/{method}/{criterion}.log",
    localrule: True
    params:
        seeds=PLAN.seeds_of,
    run:
        call("summarise", input=input, output=output, params=params, log=log)


SUMMARIES = PLAN.matrix.paths(
    "data/{study}/conditions/{interpretation}/{data_seed}/{system}/{snr}/{method}/{criterion}.json"
)
# The data sets and runs that each summary stands for.
SOURCES = PLAN.sources(
    "data/{study}/conditions/{interpretation}/{data_seed}/{system}/{snr}/{method}/{criterion}.json",
    problem="data/{study}/problems/{data_interpretation}/{data_seed}/{system}/{snr}",
    runs="data/{study}/runs/{interpretation}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json",
)


rule analyse:
    """Compare every condition with the published values."""
    input:
        **PUBLISHED,
        summaries=SUMMARIES,
        definition=PLAN.step("analyse", PUBLISHED.values()),
    output:
        conditions=f"data/{STUDY}/frames/conditions.csv",
    log:
        f"logs/{STUDY}/analyse.log",
    localrule: True
    run:
        call("analyse", input=input, output=output, log=log)


rule page:
    """Write the page of the study."""
    input:
        document=f"reports/{STUDY}/interpretations.md",
        document_figures=DOCUMENT_FIGURES,
        about=f"{HERE}CITATION.cff",
        definition=PLAN.step("page", [f"{HERE}CITATION.cff"], study=PLAN.settings),
    output:
        PLAN.page,
    log:
        f"logs/{STUDY}/page.log",
    localrule: True
    run:
        call("page", input=input, output=output, log=log)


# Without the prefix that a module gives to outputs: the manifest names them so.
RESULTS = [*SUMMARIES, f"data/{STUDY}/frames/conditions.csv", *DOCUMENT, PLAN.page]
# The pages that people read are in the manifest.
READ = []
# What the repository keeps as reference results.
KEPT = [f"data/{STUDY}/frames/conditions.csv"]
