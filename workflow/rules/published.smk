# What the published values are compared with: the findings on interpretations, as a document with figures and tables.

PUBLISHED = {
    "published": f"{REFERENCE}/published_tables.csv",
    "system_terms": f"{REFERENCE}/system_terms.csv",
    "claims": f"{REFERENCE}/claims.yaml",
}
# The frame of the conditions of all interpretations: that of their study, or the one that the repository keeps of it.
INTERPRETED = f"data/{STUDY}/frames/conditions.csv"
if KIND != "interpretations":
    INTERPRETED = f"{REFERENCE}/interpretations/conditions.csv"

# The tables that pages show, and all.
OVERVIEWS = ["nearness", "by_system", "by_table", "claim_overview", "role_verdicts", "found", "effects_overview"]
DOCUMENT_TABLES = [
    *OVERVIEWS,
    "finalists",
    "identities",
    "deviances",
    "effects",
    "claims",
    "contests",
    "gaps",
    "values",
]
DOCUMENT_FIGURES = expand(
    "reports/{study}/interpretations/{figure}.svg",
    study=STUDY,
    figure=["published_reproduced", "claims", "effects", "ranking", "gaps"],
)
DOCUMENT = [f"reports/{STUDY}/interpretations.md", *DOCUMENT_FIGURES]
DOCUMENT += expand("reports/{study}/interpretations/{table}.csv", study=STUDY, table=DOCUMENT_TABLES)


rule interpretations:
    """Tell what each answer to what the paper leaves open does to the results."""
    input:
        **PUBLISHED,
        conditions=INTERPRETED,
        choices=DESIGN_CHOICES,
        definition=PLAN.step("interpretations", [*PUBLISHED.values(), INTERPRETED, DESIGN_CHOICES]),
    output:
        DOCUMENT,
    log:
        f"logs/{STUDY}/interpretations.log",
    localrule: True
    run:
        call("interpretations", input=input, output=output, log=log)
