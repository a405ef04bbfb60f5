# From measured data to a model: brief searches, thorough ones of the best configurations, the choice, how sure it is.

NEXT_TO_PAGE = ["model.json", "identification.json", "validation.csv", "terms.csv", "tried.csv"]
NEXT_TO_PAGE += ["model.c", "model.py", "model.m", "model_sysidentpy.py"]


wildcard_constraints:
    configuration="[^/]+",
    rank="[0-9]+",
    part="[0-9]+",
    seed="[0-9]+",
    number="[0-9]+",


rule brief_search:
    """Search one configuration of decimation, degree and lags briefly."""
    input:
        data=local(PLAN.input_files),
        definition=PLAN.defined("data/{study}/steps/brief_search"),
    output:
        "data/{study}/brief/{configuration}.json",
    log:
        "logs/{study}/brief_search/{configuration}.log",
    params:
        configuration=lambda w: PLAN.entry(PLAN.configurations, w.configuration),
    run:
        call("brief_search", input=input, output=output, params=params, log=log)


BRIEFS = expand("data/{study}/brief/{configuration}.json", study=STUDY, configuration=PLAN.configurations)


rule rank_configurations:
    """Rank the configurations: the best are searched thoroughly."""
    input:
        data=local(PLAN.input_files),
        briefs=BRIEFS,
        definition=PLAN.file_of(f"data/{STUDY}/steps/rank_configurations"),
    output:
        f"data/{STUDY}/ranking.json",
    log:
        f"logs/{STUDY}/rank_configurations.log",
    localrule: True
    run:
        call("rank_configurations", input=input, output=output, log=log)


rule thorough_search:
    """Search the configuration of one rank with one seed, on all data (part 0) or without one part of them."""
    input:
        data=local(PLAN.input_files),
        ranking="data/{study}/ranking.json",
        definition=PLAN.defined("data/{study}/steps/thorough_search"),
    output:
        "data/{study}/thorough/rank-{rank}/part-{part}/seed-{seed}.json",
    log:
        "logs/{study}/thorough_search/rank-{rank}/part-{part}/seed-{seed}.log",
    run:
        call("thorough_search", input=input, output=output, wildcards=wildcards, log=log)


THOROUGH = [
    f"data/{STUDY}/thorough/rank-{rank}/part-{part}/seed-{seed}.json" for rank in PLAN.ranks for part, seed in PLAN.jobs
]


rule choose_structure:
    """Compare all structures that were found on data that their weights do not know, and choose one."""
    input:
        data=local(PLAN.input_files),
        briefs=BRIEFS,
        ranking=f"data/{STUDY}/ranking.json",
        searches=THOROUGH,
        definition=PLAN.file_of(f"data/{STUDY}/steps/choose_structure"),
    output:
        f"data/{STUDY}/choice.json",
    log:
        f"logs/{STUDY}/choose_structure.log",
    run:
        call("choose_structure", input=input, output=output, log=log)


rule resample:
    """Search one resampled data set in the configuration of the choice."""
    input:
        data=local(PLAN.input_files),
        choice="data/{study}/choice.json",
        definition=PLAN.defined("data/{study}/steps/resample"),
    output:
        "data/{study}/resampled/{number}.json",
    log:
        "logs/{study}/resample/{number}.log",
    run:
        call("resample", input=input, output=output, wildcards=wildcards, log=log)


RESAMPLED = expand("data/{study}/resampled/{number}.json", study=STUDY, number=PLAN.resamples)


rule conclude:
    """Estimate the weights, tell how sure and how good the model is, and write the report."""
    input:
        data=local(PLAN.input_files),
        choice=f"data/{STUDY}/choice.json",
        resampled=RESAMPLED,
        definition=PLAN.file_of(f"data/{STUDY}/steps/conclude"),
    output:
        PLAN.page,
        expand("reports/{study}/{file}", study=STUDY, file=NEXT_TO_PAGE),
    log:
        f"logs/{STUDY}/conclude.log",
    localrule: True
    run:
        call("conclude", input=input, output=output, log=log)


# Without the prefix that a module gives to outputs: the manifest names them so.
SOURCES = [(PLAN.page, [*PLAN.input_files, *BRIEFS, f"data/{STUDY}/ranking.json", *THOROUGH])]
SOURCES += [(PLAN.page, [f"data/{STUDY}/choice.json", *RESAMPLED])]
RESULTS = [PLAN.page, *expand("reports/{study}/{file}", study=STUDY, file=NEXT_TO_PAGE)]
# The pages that people read are in the manifest.
READ = []
# What the repository keeps as reference results.
KEPT = [f"reports/{STUDY}/identification.json"]
