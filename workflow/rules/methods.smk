# The comparison of methods: scenarios x systems x SNRs x data seeds x methods x criteria x seeds, then scores and ranks.

FRAMES = ["scores", "ranking", "pairs", "systems"]
TABLES = ["leaderboard", "situations", "differences", "systems"]
FIGURES = ["situations", "terms_error"]


include: "runs.smk"


from narxbench._pipeline.comparison import ComparisonPlan

COMPARED = ComparisonPlan(PLAN)
SCORE = "data/{study}/scores/{scenario}/{data_seed}/{system}/{snr}/{criterion}.json"
PLAN.keep_finished(SCORE, RUN)


rule score:
    """Score what all methods of one criterion found on one problem."""
    input:
        runs=lambda w: COMPARED.scored_runs(RUN, w),
        data=f"{PROBLEM}.csv",
    output:
        SCORE,
    log:
        "logs/{study}/score/{scenario}/{data_seed}/{system}/{snr}/{criterion}.log",
    localrule: True
    params:
        made_by=lambda w: made_by("score", criterion=w.criterion),
        problem=lambda w: COMPARED.problem(w),
        methods=lambda w: COMPARED.methods(w),
    run:
        call("score", input=input, output=output, params=params, log=log, simulation=PLAN.problem(wildcards).simulation)


SOURCES = Sources(PLAN, FOLDER, summary=SCORE, problem=PROBLEM, runs=RUN)


rule repeat:
    """Make one run of a method that has a process of its own again in a fresh one, and compare it with its run file."""
    input:
        run=lambda w: expand(RUN, **vars(COMPARED.repeated(w))),
        data=lambda w: expand(f"{PROBLEM}.csv", **vars(COMPARED.repeated(w))),
    output:
        "data/{study}/repeats/{method}.json",
    log:
        "logs/{study}/repeat/{method}.log",
    resources:
        mem_mb=lambda w, attempt: attempt * PLAN.memory_mb(w.method),
        runtime=PLAN.minutes,
    params:
        made_by=lambda w: made_by("repeat", method=SETTINGS["methods"][w.method]["algorithm"]),
        run=lambda w: PLAN.run(COMPARED.repeated(w)),
        # The last of the job: those before it could have left it notes.
        seed=lambda w: PLAN.seeds(COMPARED.repeated(w))[-1],
    run:
        problem = PLAN.problem(COMPARED.repeated(wildcards))
        call("repeat", input=input, output=output, params=params, log=log, simulation=problem.simulation)


# The runs that were made again: a method that does not repeat is not ranked.
REPEATS = expand("data/{study}/repeats/{method}.json", study=STUDY, method=COMPARED.repeated_methods)


rule rank:
    """Rank the methods, and test their differences."""
    input:
        scores=SOURCES.summaries,
        repeats=REPEATS,
    output:
        **{frame: f"data/{STUDY}/frames/{frame}.csv" for frame in FRAMES},
    log:
        f"logs/{STUDY}/rank.log",
    localrule: True
    params:
        *made_by("rank"),
        ranking=COMPARED.ranking(),
    run:
        call("rank", input=input, output=output, params=params, log=log)


# The frames, the CPU time of the methods (measured by hand: benchmarks/methods.py), and the runs that were made again.
COST = f"{REFERENCE}/methods/cost.csv"
SHOWN = {
    **{frame: f"data/{STUDY}/frames/{frame}.csv" for frame in FRAMES},
    "cost": COST,
    "repeats": REPEATS,
}


rule ranking_tables:
    """Write tables and figures of the comparison, and the answer in a few lines."""
    input:
        **SHOWN,
    output:
        in_report("Tables", "reports/{study}/tables/{name}.csv", TABLES),
        expand("reports/{study}/tables/{table}.{form}", study=STUDY, table=TABLES, form=["md", "tex"]),
        in_report("Figures", "reports/{study}/figures/{name}.svg", FIGURES),
        f"reports/{STUDY}/answer.md",
    log:
        f"logs/{STUDY}/ranking_tables.log",
    localrule: True
    params:
        *made_by("ranking_tables", [COST]),
        study=SETTINGS,
    run:
        call("ranking_tables", input=input, output=output, params=params, log=log)


rule leaderboard:
    """Write the page of the comparison, and the line that the terminal shows."""
    input:
        **SHOWN,
    output:
        PAGE,
        answer=f"data/{STUDY}/pages/answer.txt",
    log:
        f"logs/{STUDY}/leaderboard.log",
    localrule: True
    params:
        *made_by("leaderboard", [COST]),
        study=SETTINGS,
        added=COMPARED.added_methods,
        left_out=COMPARED.left_out,
    run:
        call("leaderboard", input=input, output=output, params=params, log=log)


# Without the prefix that a module gives to outputs: the manifest names them so.
RESULTS = [*SOURCES.summaries, *expand("data/{study}/frames/{frame}.csv", study=STUDY, frame=FRAMES)]
RESULTS += expand("reports/{study}/tables/{table}.{form}", study=STUDY, table=TABLES, form=["csv", "md", "tex"])
RESULTS += expand("reports/{study}/figures/{figure}.svg", study=STUDY, figure=FIGURES)
RESULTS += [f"reports/{STUDY}/answer.md", PAGE]
# The pages that people read are in the manifest.
READ = []
# What the repository keeps as reference results.
KEPT = [f"reports/{STUDY}/answer.md"]
KEPT += expand("reports/{study}/tables/{table}.md", study=STUDY, table=TABLES)
KEPT += expand("reports/{study}/figures/{figure}.svg", study=STUDY, figure=FIGURES)
KEPT += [f"data/{STUDY}/frames/ranking.csv", f"data/{STUDY}/frames/systems.csv"]
