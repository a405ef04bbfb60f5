# The comparison of methods: scenarios x systems x SNRs x data seeds x methods x criteria x seeds, then scores and ranks.

FRAMES = ["scores", "ranking", "pairs", "ecdf", "systems"]
TABLES = ["leaderboard", "search", "unranked", "differences", "situations", "breaks", "systems"]
FIGURES = ["recovery_cost", "ecdf", "situations"]


include: "runs.smk"


PLAN.keep_finished(
    "data/{study}/scores/{scenario}/{data_seed}/{system}/{snr}/{criterion}.json",
    "data/{study}/runs/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json",
)


rule score:
    """Score what all methods of one criterion found on one problem."""
    input:
        runs=PLAN.scored_runs(
            "data/{study}/runs/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json"
        ),
        data="data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}.csv",
        problem=PLAN.defined("data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}"),
        methods=PLAN.scored_definitions("data/{study}/methods/{scenario}/{method}/{criterion}"),
        definition=PLAN.defined("data/{study}/steps/score/{criterion}"),
    output:
        "data/{study}/scores/{scenario}/{data_seed}/{system}/{snr}/{criterion}.json",
    log:
        "logs/{study}/score/{scenario}/{data_seed}/{system}/{snr}/{criterion}.log",
    localrule: True
    params:
        seeds=PLAN.seeds_by_method,
    run:
        call("score", input=input, output=output, params=params, log=log)


SUMMARIES = PLAN.matrix.paths("data/{study}/scores/{scenario}/{data_seed}/{system}/{snr}/{criterion}.json")
# The data sets and runs that each score file stands for.
SOURCES = PLAN.sources(
    "data/{study}/scores/{scenario}/{data_seed}/{system}/{snr}/{criterion}.json",
    problem="data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}",
    runs="data/{study}/runs/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json",
)


rule repeat:
    """Make one run of a method that has a process of its own again in a fresh one, and compare it with its run file."""
    input:
        run=PLAN.repeated("data/{study}/runs/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json"),
        data=PLAN.repeated("data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}.csv"),
        problem=PLAN.repeated_definition("data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}"),
        definition=PLAN.repeated_definition("data/{study}/methods/{scenario}/{method}/{criterion}"),
        step=PLAN.defined("data/{study}/steps/repeat/{method}"),
    output:
        "data/{study}/repeats/{method}.json",
    log:
        "logs/{study}/repeat/{method}.log",
    resources:
        mem_mb=lambda w, attempt: attempt * PLAN.memory_mb(w.method),
        runtime=PLAN.minutes(),
    params:
        seed=lambda w: PLAN.repeated_seed(w.method),
    run:
        call("repeat", input=input, output=output, params=params, log=log)


# The runs that were made again: a method that does not repeat is not ranked.
REPEATS = expand("data/{study}/repeats/{method}.json", study=STUDY, method=PLAN.repeated_methods)


rule rank:
    """Rank the methods, and test their differences."""
    input:
        scores=SUMMARIES,
        repeats=REPEATS,
        definition=PLAN.step("rank", **PLAN.ranking()),
    output:
        **{frame: f"data/{STUDY}/frames/{frame}.csv" for frame in FRAMES},
    log:
        f"logs/{STUDY}/rank.log",
    localrule: True
    run:
        call("rank", input=input, output=output, log=log)


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
        definition=PLAN.step("ranking_tables", [COST], study=PLAN.settings),
    output:
        in_report("Tables", "reports/{study}/tables/{name}.csv", TABLES),
        expand("reports/{study}/tables/{table}.{form}", study=STUDY, table=TABLES, form=["md", "tex"]),
        in_report("Figures", "reports/{study}/figures/{name}.svg", FIGURES),
        f"reports/{STUDY}/answer.md",
    log:
        f"logs/{STUDY}/ranking_tables.log",
    localrule: True
    run:
        call("ranking_tables", input=input, output=output, log=log)


rule leaderboard:
    """Write the page of the comparison."""
    input:
        **SHOWN,
        system_files=PLAN.system_files,
        definition=PLAN.step(
            "leaderboard",
            [COST, *PLAN.system_files],
            study=PLAN.settings,
            methods=PLAN.about_methods(),
            left_out=PLAN.left_out,
        ),
    output:
        PLAN.page,
    log:
        f"logs/{STUDY}/leaderboard.log",
    localrule: True
    run:
        call("leaderboard", input=input, output=output, log=log)


# Without the prefix that a module gives to outputs: the manifest names them so.
RESULTS = [*SUMMARIES, *expand("data/{study}/frames/{frame}.csv", study=STUDY, frame=FRAMES)]
RESULTS += expand("reports/{study}/tables/{table}.{form}", study=STUDY, table=TABLES, form=["csv", "md", "tex"])
RESULTS += expand("reports/{study}/figures/{figure}.svg", study=STUDY, figure=FIGURES)
RESULTS += [f"reports/{STUDY}/answer.md", PLAN.page]
# The pages that people read are in the manifest.
READ = []
# What the repository keeps as reference results.
KEPT = [f"reports/{STUDY}/answer.md"]
KEPT += expand("reports/{study}/tables/{table}.md", study=STUDY, table=TABLES)
KEPT += expand("reports/{study}/figures/{figure}.svg", study=STUDY, figure=FIGURES)
KEPT += [f"data/{STUDY}/frames/ranking.csv", f"data/{STUDY}/frames/systems.csv"]
