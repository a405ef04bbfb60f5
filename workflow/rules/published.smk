# The paper as data, and the document on its interpretations, with figures and tables.

PUBLISHED = {
    "published": f"{REFERENCE}/published_tables.csv",
    "system_terms": f"{REFERENCE}/system_terms.csv",
    "claims": f"{REFERENCE}/claims.yaml",
}
# The frame of the conditions of all interpretations: that of their study, or the one that the repository keeps of it.
INTERPRETED = f"data/{STUDY}/frames/conditions.csv"
if KIND != "interpretations":
    INTERPRETED = f"{REFERENCE}/interpretations/conditions.csv"

# The files of the document on the interpretations. The paper's study makes them only for `update_reference`: its pages
# quote those that the repository keeps.
DOCUMENT_FIGURES = expand(
    "reports/{study}/interpretations/{figure}.svg", study=STUDY, figure=["published_reproduced", "effects"]
)
DOCUMENT = [f"reports/{STUDY}/interpretations.md", *DOCUMENT_FIGURES]
DOCUMENT += expand(
    "reports/{study}/interpretations/{table}.csv",
    study=STUDY,
    table=["nearness", "values", "role_verdicts", "effects"],
)


rule interpretations:
    """Write what each option for what the paper leaves open does to the results."""
    input:
        **PUBLISHED,
        conditions=INTERPRETED,
        choices=DESIGN_CHOICES,
    output:
        DOCUMENT,
    log:
        f"logs/{STUDY}/interpretations.log",
    localrule: True
    params:
        *made_by("interpretations", [*PUBLISHED.values(), INTERPRETED, DESIGN_CHOICES]),
    run:
        call("interpretations", input=input, output=output, log=log)
