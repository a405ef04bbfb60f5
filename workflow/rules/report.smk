# What people read: the document on interpretations, the pages.


rule interpretations:
    """Tell what each answer to what the paper leaves open does to the results."""
    input:
        **PLAN.document_files,
        memory=lambda w: local(PLAN.memory),
    output:
        PLAN.documents,
    log:
        f"{PLAN.logs}/interpretations.log",
    localrule: True
    conda:
        "../envs/narxbench.yaml"
    params:
        code=PLAN.code("interpretations"),
    script:
        "../../scripts/interpretations.py"


rule page:
    """Write the pages of the study."""
    input:
        **PLAN.page_files,
    output:
        report(PLAN.page, category="Page", caption="../report/page.rst"),
        PLAN.pages[1:],
    log:
        f"{PLAN.logs}/page.log",
    localrule: True
    params:
        settings=PLAN.settings,
        code=PLAN.code("page"),
    run:
        call("page", input=input, output=output, params=params, log=log)
