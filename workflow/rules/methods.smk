# Methods compared: the scores of each problem, ranks and tests, the leaderboard.


rule score:
    """Score what all methods found on one problem."""
    input:
        runs=lambda w: PLAN.compared(w.problem)["runs"],
        data=lambda w: PLAN.compared(w.problem)["data"],
    output:
        f"{PLAN.data}/scores/{{problem}}.json",
    log:
        f"{PLAN.logs}/score/{{problem}}.log",
    localrule: True
    params:
        scoring=lambda w: PLAN.scoring(w.problem),
        code=lambda w: PLAN.scoring_code[w.problem],
    run:
        call("score", input=input, output=output, params=params, log=log)


rule repeat:
    """Make one run of a method that has a process of its own again in a fresh one, and compare it with its run file."""
    input:
        run=lambda w: PLAN.repeated(w.method)["run"],
        data=lambda w: PLAN.repeated(w.method)["data"],
    output:
        f"{PLAN.data}/repeats/{{method}}.json",
    log:
        f"{PLAN.logs}/repeat/{{method}}.log",
    params:
        repeat=lambda w: PLAN.repeated(w.method)["repeat"],
    run:
        call("repeat", input=input, output=output, params=params, log=log)


rule rank:
    """Rank the methods, and test their differences."""
    input:
        scores=PLAN.summaries,
        repeats=PLAN.page_files["repeats"],
    output:
        **PLAN.frames,
    log:
        f"{PLAN.logs}/rank.log",
    localrule: True
    params:
        ranking=PLAN.ranking(),
        code=PLAN.code("rank"),
    run:
        call("rank", input=input, output=output, params=params, log=log)


rule ranking_tables:
    """Write tables and figures of the comparison, and the answer in a few lines."""
    input:
        **PLAN.page_files,
    output:
        report(PLAN.tables["csv"], category="Tables", caption="../report/tables.rst"),
        PLAN.tables["md"],
        PLAN.tables["tex"],
        report(PLAN.figures["svg"], category="Figures", caption="../report/figures.rst"),
        PLAN.documents,
    log:
        f"{PLAN.logs}/ranking_tables.log",
    localrule: True
    params:
        settings=PLAN.settings,
        code=PLAN.code("ranking_tables"),
    run:
        call("ranking_tables", input=input, output=output, params=params, log=log)


rule leaderboard:
    """Write the page of the comparison."""
    input:
        **PLAN.page_files,
    output:
        report(PLAN.page, category="Page", caption="../report/page.rst"),
    log:
        f"{PLAN.logs}/leaderboard.log",
    localrule: True
    conda:
        "../envs/narxbench.yaml"
    params:
        settings=PLAN.settings,
        methods=PLAN.about_methods(),
        left_out=PLAN.left_out,
        code=PLAN.code("leaderboard"),
    script:
        "../../scripts/leaderboard.py"
