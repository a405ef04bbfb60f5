# The paper's study: systems x SNRs x methods x criteria x seeds, then nu, r and nu_max, tables, figures and pages.


include: "published.smk"


FRAMES = ["conditions", "metrics", "selection", "convergence", "recovery", "comparisons", "gaps"]
FRAMES += ["agreement_values", "agreement", "claims"]
TABLES = ["agreement", "claims", "method_comparison", "recovery", "gaps", "test_systems", "method_settings"]
TABLES += expand("{table}_{system}", table=["fitness", "comparison"], system=PLAN.systems)
FIGURES = ["convergence", "term_frequency"]
# The tables and figures as the paper prints them, and the final structures.
PRINTED_TABLES = expand("table_{number}", number=range(1, 8))
PRINTED_TABLES += expand("final_structures_{system}", system=PLAN.systems)
# The system of a printed table that is of one.
PRINTED_SYSTEMS = {"table_3": "S1", "table_4": "S2", "table_5": "S3", "table_6": "S4", "table_7": "S4"}
PRINTED_FIGURES = ["figure_1", "figure_2"]
VALUES = f"reports/{STUDY}/interpretations/values.csv"
PAGES = ["facsimile", "interpretations", "statistics", "method", "provenance"]

PLAN.keep_finished(
    "data/{study}/conditions/{system}/{snr}/{method}/{criterion}.json",
    "data/{study}/runs/{system}/{snr}/{method}/{criterion}/{seeds}.json",
)


rule simulate:
    """Simulate one system at one SNR."""
    input:
        definition=PLAN.defined("data/{study}/problems/{system}/{snr}"),
        recorded=lambda w: local(PLAN.recorded("data/{study}/problems/{system}/{snr}", w)),
    output:
        "data/{study}/problems/{system}/{snr}.csv",
    log:
        "logs/{study}/simulate/{system}/{snr}.log",
    localrule: True
    run:
        call("simulate", input=input, output=output, wildcards=wildcards, log=log)


use rule simulate as simulate_realisation with:
    output:
        "data/{study}/problems/{system}/{snr}/realisation-{realisation}.csv",
    log:
        "logs/{study}/simulate/{system}/{snr}/realisation-{realisation}.log",


rule search:
    """Run one method on one problem with one seed, or with the seeds that share a job."""
    input:
        data=PLAN.data_sets("data/{study}/problems/{system}/{snr}"),
        run=PLAN.defined("data/{study}/problems/{system}/{snr}", "data/{study}/methods/{method}/{criterion}"),
    output:
        "data/{study}/runs/{system}/{snr}/{method}/{criterion}/{seeds}.json",
    log:
        "logs/{study}/search/{system}/{snr}/{method}/{criterion}/{seeds}.log",
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
        runs=PLAN.runs("data/{study}/runs/{system}/{snr}/{method}/{criterion}/{seeds}.json"),
        data=PLAN.data_sets("data/{study}/problems/{system}/{snr}"),
        run=PLAN.defined("data/{study}/problems/{system}/{snr}", "data/{study}/methods/{method}/{criterion}"),
        definition=PLAN.defined("data/{study}/steps/summarise/{criterion}"),
    output:
        "data/{study}/conditions/{system}/{snr}/{method}/{criterion}.json",
    log:
        "logs/{study}/summarise/{system}/{snr}/{method}/{criterion}.log",
    localrule: True
    params:
        seeds=PLAN.seeds_of,
    run:
        call("summarise", input=input, output=output, params=params, log=log)


SUMMARIES = PLAN.matrix.paths("data/{study}/conditions/{system}/{snr}/{method}/{criterion}.json")
# The data sets and runs that each summary stands for.
SOURCES = PLAN.sources(
    "data/{study}/conditions/{system}/{snr}/{method}/{criterion}.json",
    problem="data/{study}/problems/{system}/{snr}",
    runs="data/{study}/runs/{system}/{snr}/{method}/{criterion}/{seeds}.json",
)


rule analyse:
    """Compute nu, r and nu_max, performance, tests, agreement with the published values, and the paper's claims."""
    input:
        **PUBLISHED,
        summaries=SUMMARIES,
        definition=PLAN.step(
            "analyse",
            PUBLISHED.values(),
            confidence=PLAN.study.statistics.confidence,
            figure_snr_db=PLAN.study.figures.snr_db,
        ),
    output:
        **{frame: f"data/{STUDY}/frames/{frame}.csv" for frame in FRAMES},
    log:
        f"logs/{STUDY}/analyse.log",
    localrule: True
    run:
        call("analyse", input=input, output=output, log=log)


rule tables:
    """Write the paper's tables as CSV, Markdown and LaTeX."""
    input:
        **{frame: f"data/{STUDY}/frames/{frame}.csv" for frame in FRAMES},
        systems=PLAN.system_files,
        claim_texts=f"{REFERENCE}/claims.yaml",
        definition=PLAN.step("tables", [*PLAN.system_files, f"{REFERENCE}/claims.yaml"], study=PLAN.settings),
    output:
        in_report("Tables", "reports/{study}/tables/{name}.csv", TABLES),
        expand("reports/{study}/tables/{table}.{form}", study=STUDY, table=TABLES, form=["md", "tex"]),
    log:
        f"logs/{STUDY}/tables.log",
    localrule: True
    run:
        call("tables", input=input, output=output, log=log)


rule figures:
    """Draw the paper's figures as PDF and SVG."""
    input:
        **{frame: f"data/{STUDY}/frames/{frame}.csv" for frame in ("convergence", "selection", "gaps")},
        definition=PLAN.step("figures", study=PLAN.settings),
    output:
        in_report("Figures", "reports/{study}/figures/{name}.svg", FIGURES),
        expand("reports/{study}/figures/{figure}.pdf", study=STUDY, figure=FIGURES),
    log:
        f"logs/{STUDY}/figures.log",
    localrule: True
    run:
        call("figures", input=input, output=output, log=log)


rule facsimile:
    """Write tables and figures as the paper prints them, with published, described and closest values."""
    input:
        **{frame: f"data/{STUDY}/frames/{frame}.csv" for frame in ("convergence", "selection")},
        published=PUBLISHED["published"],
        system_terms=PUBLISHED["system_terms"],
        values=VALUES,
        summaries=SUMMARIES,
        systems=PLAN.system_files,
        choices=DESIGN_CHOICES,
        definition=PLAN.step(
            "facsimile",
            [PUBLISHED["published"], PUBLISHED["system_terms"], *PLAN.system_files, DESIGN_CHOICES],
            study=PLAN.settings,
        ),
    output:
        in_report("Tables", "reports/{study}/tables/{name}.csv", PRINTED_TABLES, PRINTED_SYSTEMS),
        in_report("Figures", "reports/{study}/figures/{name}.svg", PRINTED_FIGURES),
        expand("reports/{study}/tables/{table}.{form}", study=STUDY, table=PRINTED_TABLES, form=["md", "tex"]),
        expand("reports/{study}/figures/{figure}.pdf", study=STUDY, figure=PRINTED_FIGURES),
    log:
        f"logs/{STUDY}/facsimile.log",
    localrule: True
    run:
        call("facsimile", input=input, output=output, log=log)


# What the pages quote: the findings on interpretations, the answer which method to use, documents.
QUOTED = {
    "interpretations": f"{REFERENCE}/interpretations/conditions.csv",
    "choices": DESIGN_CHOICES,
    "published": PUBLISHED["published"],
    "system_terms": PUBLISHED["system_terms"],
    "claim_texts": PUBLISHED["claims"],
    "answer": f"{REFERENCE}/methods/answer.md",
    "reached": f"{REFERENCE}/methods/ecdf.svg",
    "scored": f"{REFERENCE}/methods/systems.csv",
    "compared": f"{REFERENCE}/methods/manifest.csv",
    "errata": f"{HERE}docs/errata.md",
    "method": f"{HERE}docs/method.md",
    "words": f"{HERE}docs/glossary.md",
    "citation": f"{REFERENCE}/citation.bib",
    "about": f"{HERE}CITATION.cff",
}


rule page:
    """Write the pages of the study."""
    input:
        **{frame: f"data/{STUDY}/frames/{frame}.csv" for frame in FRAMES},
        **{overview: f"reports/{STUDY}/interpretations/{overview}.csv" for overview in OVERVIEWS},
        **QUOTED,
        values=VALUES,
        summaries=SUMMARIES,
        document=f"reports/{STUDY}/interpretations.md",
        document_figures=DOCUMENT_FIGURES,
        svg=expand("reports/{study}/figures/{figure}.svg", study=STUDY, figure=FIGURES + PRINTED_FIGURES),
        system_files=PLAN.system_files,
        definition=PLAN.step("page", [*QUOTED.values(), *PLAN.system_files], study=PLAN.settings),
    output:
        PLAN.page,
        expand("reports/{study}/{page}.html", study=STUDY, page=PAGES),
    log:
        f"logs/{STUDY}/page.log",
    localrule: True
    run:
        call("page", input=input, output=output, log=log)


# Without the prefix that a module gives to outputs: the manifest names them so.
RESULTS = [*SUMMARIES, *expand("data/{study}/frames/{frame}.csv", study=STUDY, frame=FRAMES)]
ALL_TABLES, ALL_FIGURES = TABLES + PRINTED_TABLES, FIGURES + PRINTED_FIGURES
RESULTS += expand("reports/{study}/tables/{table}.{form}", study=STUDY, table=ALL_TABLES, form=["csv", "md", "tex"])
RESULTS += expand("reports/{study}/figures/{figure}.{form}", study=STUDY, figure=ALL_FIGURES, form=["pdf", "svg"])
RESULTS += [*DOCUMENT, PLAN.page, *expand("reports/{study}/{page}.html", study=STUDY, page=PAGES)]
# What the repository keeps as reference results.
KEPT = expand("reports/{study}/tables/{table}.md", study=STUDY, table=ALL_TABLES)
KEPT += expand("reports/{study}/figures/{figure}.svg", study=STUDY, figure=ALL_FIGURES)
KEPT += [f"reports/{STUDY}/interpretations.md", *DOCUMENT_FIGURES]
KEPT += expand("reports/{study}/interpretations/{overview}.csv", study=STUDY, overview=OVERVIEWS)
KEPT += [f"data/{STUDY}/frames/metrics.csv", f"data/{STUDY}/frames/agreement_values.csv"]
