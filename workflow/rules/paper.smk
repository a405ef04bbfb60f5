# The paper's study: systems x SNRs x methods x criteria x seeds, then nu, r and nu_max, tables, figures and pages.


include: "published.smk"
include: "runs.smk"
include: "conditions.smk"


FRAMES = ["conditions", "metrics", "selection", "convergence", "agreement_values", "agreement", "claims"]
TABLES = expand("table_{number}", number=range(1, 8))
TABLES += ["claims", *expand("{table}_{system}", table=["selection", "final_structures"], system=PLAN.systems)]
# The system of a printed table that is of one.
TABLE_SYSTEMS = {"table_3": "S1", "table_4": "S2", "table_5": "S3", "table_6": "S4", "table_7": "S4"}
FIGURES = ["figure_1", "figure_2"]
PAGES = ["as_printed", "interpretations", "method"]
# Results of the study of interpretations, which the pages show in boxes where this checkout has them.
KEPT_RESULTS = kept_paths(REFERENCE)


rule analyse:
    """Compute nu, r and nu_max, performance, tests, agreement with the published values, and the paper's claims."""
    input:
        **PUBLISHED,
        summaries=SOURCES.summaries,
    output:
        **{frame: f"data/{STUDY}/frames/{frame}.csv" for frame in FRAMES},
    log:
        f"logs/{STUDY}/analyse.log",
    localrule: True
    params:
        *made_by("analyse", PUBLISHED.values()),
        confidence=SETTINGS["statistics"]["confidence"],
    run:
        call("analyse", input=input, output=output, params=params, log=log)


# What tables and pages need besides frames, summaries and kept results.
SHOWN = {
    "choices": DESIGN_CHOICES,
    "published": PUBLISHED["published"],
    "system_terms": PUBLISHED["system_terms"],
    "claim_texts": PUBLISHED["claims"],
    "checks": f"{HERE}docs/the_paper.md",
    "method": f"{HERE}docs/method.md",
    "citation": f"{REFERENCE}/citation.bib",
    "about": f"{HERE}CITATION.cff",
}
COMMITTED = [*SHOWN.values(), *KEPT_RESULTS.values(), *SYSTEM_FILES]


rule tables:
    """Write the paper's tables as CSV, Markdown and LaTeX, and what the run has besides."""
    input:
        **{frame: f"data/{STUDY}/frames/{frame}.csv" for frame in FRAMES},
        **SHOWN,
        **KEPT_RESULTS,
        summaries=SOURCES.summaries,
        systems=SYSTEM_FILES,
    output:
        in_report("Tables", "reports/{study}/tables/{name}.csv", TABLES, TABLE_SYSTEMS),
        expand("reports/{study}/tables/{table}.{form}", study=STUDY, table=TABLES, form=["md", "tex"]),
    log:
        f"logs/{STUDY}/tables.log",
    localrule: True
    params:
        *made_by("tables", COMMITTED),
        study=SETTINGS,
    run:
        call("tables", input=input, output=output, params=params, log=log)


rule figures:
    """Draw the paper's figures as PDF and SVG."""
    input:
        **{frame: f"data/{STUDY}/frames/{frame}.csv" for frame in ("convergence", "selection")},
    output:
        in_report("Figures", "reports/{study}/figures/{name}.svg", FIGURES),
        expand("reports/{study}/figures/{figure}.pdf", study=STUDY, figure=FIGURES),
    log:
        f"logs/{STUDY}/figures.log",
    localrule: True
    params:
        *made_by("figures"),
        study=SETTINGS,
    run:
        call("figures", input=input, output=output, params=params, log=log)


ALL_TABLES = expand("reports/{study}/tables/{table}.{form}", study=STUDY, table=TABLES, form=["csv", "md", "tex"])
ALL_FIGURES = expand("reports/{study}/figures/{figure}.{form}", study=STUDY, figure=FIGURES, form=["pdf", "svg"])
# The pages with a fixed record of the run, and what they say in a line: the same bytes on every machine.
REPRODUCIBLE = expand("data/{study}/pages/{page}.html", study=STUDY, page=["report", *PAGES]) + [
    f"data/{STUDY}/pages/answer.txt"
]


rule page:
    """Write the pages of the run, next to the tables and figures that they lead to."""
    input:
        **{frame: f"data/{STUDY}/frames/{frame}.csv" for frame in FRAMES},
        **SHOWN,
        **KEPT_RESULTS,
        record=RUN_RECORD,
        summaries=SOURCES.summaries,
        linked=[*ALL_TABLES, *ALL_FIGURES],
        svg=expand("reports/{study}/figures/{figure}.svg", study=STUDY, figure=FIGURES),
        system_files=SYSTEM_FILES,
    output:
        PAGE,
        expand("reports/{study}/{page}.html", study=STUDY, page=PAGES),
        reproducible=REPRODUCIBLE,
    log:
        f"logs/{STUDY}/page.log",
    localrule: True
    params:
        *made_by("page", COMMITTED),
        study=SETTINGS,
    run:
        call("page", input=input, output=output, params=params, log=log)


# Without the prefix that a module gives to outputs: the manifest names them so.
RESULTS = [*SOURCES.summaries, *expand("data/{study}/frames/{frame}.csv", study=STUDY, frame=FRAMES)]
RESULTS += [*ALL_TABLES, *ALL_FIGURES, *REPRODUCIBLE]
# The pages that people read; they quote the record of the run, and so are not in the manifest.
READ = [PAGE, *expand("reports/{study}/{page}.html", study=STUDY, page=PAGES)]
# What the repository keeps as reference results.
KEPT = expand("reports/{study}/tables/{table}.md", study=STUDY, table=TABLES)
KEPT += expand("reports/{study}/figures/{figure}.svg", study=STUDY, figure=FIGURES)
KEPT += DOCUMENT
KEPT += [f"data/{STUDY}/frames/metrics.csv", f"data/{STUDY}/frames/agreement_values.csv"]
