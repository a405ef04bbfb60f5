# The study of what the paper leaves open: interpretations x data seeds x systems x SNRs x methods x criteria x seeds.


include: "published.smk"
include: "runs.smk"
include: "conditions.smk"


rule analyse:
    """Compare every condition with the published values."""
    input:
        **PUBLISHED,
        summaries=SOURCES.summaries,
    output:
        conditions=f"data/{STUDY}/frames/conditions.csv",
    log:
        f"logs/{STUDY}/analyse.log",
    localrule: True
    params:
        *made_by("analyse", PUBLISHED.values()),
    run:
        call("analyse", input=input, output=output, params=params, log=log)


rule page:
    """Write the page of the study."""
    input:
        document=f"reports/{STUDY}/interpretations.md",
        document_figures=DOCUMENT_FIGURES,
        about=f"{HERE}CITATION.cff",
    output:
        PAGE,
    log:
        f"logs/{STUDY}/page.log",
    localrule: True
    params:
        *made_by("page", [f"{HERE}CITATION.cff"]),
        study=SETTINGS,
    run:
        call("page", input=input, output=output, params=params, log=log)


# Without the prefix that a module gives to outputs: the manifest names them so.
RESULTS = [*SOURCES.summaries, f"data/{STUDY}/frames/conditions.csv", *DOCUMENT, PAGE]
# The pages that people read are in the manifest.
READ = []
# What the repository keeps as reference results.
KEPT = [f"data/{STUDY}/frames/conditions.csv"]
