# From measured data to a model: brief searches, thorough ones of the best configurations, the choice, how sure it is.


wildcard_constraints:
    configuration="[^/]+",
    rank="[0-9]+",
    part="[0-9]+",
    seed="[0-9]+",
    number="[0-9]+",


rule brief_search:
    """Search one configuration of decimation, degree and lags briefly."""
    input:
        data=lambda w: local(PLAN.input_files),
        memory=lambda w: local(PLAN.memory),
    output:
        f"{PLAN.data}/brief/{{configuration}}.json",
    log:
        f"{PLAN.logs}/brief_search/{{configuration}}.log",
    params:
        settings=PLAN.job,
        configuration=lambda w: PLAN.configurations[w.configuration],
        data=PLAN.data_digest,
        code=PLAN.code("brief_search", PLAN.method, PLAN.criterion),
    run:
        call("brief_search", output=output, params=params, log=log)


rule rank_configurations:
    """Rank the configurations: the best are searched thoroughly."""
    input:
        data=lambda w: local(PLAN.input_files),
        briefs=PLAN.briefs,
    output:
        PLAN.ranking,
    log:
        f"{PLAN.logs}/rank_configurations.log",
    localrule: True
    params:
        settings=PLAN.job,
        data=PLAN.data_digest,
        code=PLAN.code("rank_configurations", criterion=PLAN.criterion),
    run:
        call("rank_configurations", input=input, output=output, params=params, log=log)


rule thorough_search:
    """Search the configuration of one rank with one seed, on all data (part 0) or without one part of them."""
    input:
        data=lambda w: local(PLAN.input_files),
        ranking=PLAN.ranking,
    output:
        f"{PLAN.data}/thorough/rank-{{rank}}/part-{{part}}/seed-{{seed}}.json",
    log:
        f"{PLAN.logs}/thorough_search/rank-{{rank}}/part-{{part}}/seed-{{seed}}.log",
    params:
        settings=PLAN.job,
        search=lambda w: {"rank": int(w.rank), "part": int(w.part), "seed": int(w.seed)},
        data=PLAN.data_digest,
        code=PLAN.code("thorough_search", PLAN.method, PLAN.criterion),
    run:
        call("thorough_search", input=input, output=output, params=params, log=log)


rule choose_structure:
    """Compare all structures that were found on data that their weights do not know, and choose one."""
    input:
        data=lambda w: local(PLAN.input_files),
        briefs=PLAN.briefs,
        ranking=PLAN.ranking,
        searches=PLAN.searches,
    output:
        PLAN.choice,
    log:
        f"{PLAN.logs}/choose_structure.log",
    params:
        settings=PLAN.job,
        data=PLAN.data_digest,
        code=PLAN.code("choose_structure", PLAN.forward, PLAN.criterion),
    run:
        call("choose_structure", input=input, output=output, params=params, log=log)


rule resample:
    """Search one resampled data set in the configuration of the choice."""
    input:
        data=lambda w: local(PLAN.input_files),
        choice=PLAN.choice,
    output:
        f"{PLAN.data}/resampled/{{number}}.json",
    log:
        f"{PLAN.logs}/resample/{{number}}.log",
    params:
        settings=PLAN.job,
        number=lambda w: int(w.number),
        data=PLAN.data_digest,
        code=PLAN.code("resample", PLAN.method, PLAN.criterion),
    run:
        call("resample", input=input, output=output, params=params, log=log)


rule conclude:
    """Estimate the weights, tell how sure and how good the model is, and write the report."""
    input:
        data=lambda w: local(PLAN.input_files),
        choice=PLAN.choice,
        resampled=PLAN.resampled,
    output:
        report(PLAN.page, category="Page", caption="../report/model.rst"),
        PLAN.from_summaries[1:],
    log:
        f"{PLAN.logs}/conclude.log",
    localrule: True
    params:
        settings=PLAN.job,
        data=PLAN.data_digest,
        code=PLAN.code("conclude", criterion=PLAN.criterion),
    run:
        call("conclude", input=input, output=output, params=params, log=log)
