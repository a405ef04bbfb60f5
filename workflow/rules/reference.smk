# Time spent, digests of all results, and what the repository keeps of them: the reference results, and a picture of the
# page.


rule run_info:
    """Write machine, commit and time spent, which would make the page differ from one rebuild to the next."""
    input:
        PLAN.page,
    output:
        PLAN.run_info,
    log:
        f"{PLAN.logs}/run_info.log",
    params:
        logs=PLAN.timing_logs(),
        code=PLAN.code("run_info"),
    run:
        call("scripts/run_info.py", output=output, params=params, log=log)


rule manifest:
    """Write settings, versions and the digest of every result."""
    input:
        PLAN.from_summaries(),
    output:
        PLAN.manifest,
    log:
        f"{PLAN.logs}/manifest.log",
    params:
        files=PLAN.results(),
        settings=PLAN.settings(),
        code=PLAN.code("manifest"),
    run:
        call("scripts/manifest.py", output=output, params=params, log=log)


rule verify:
    """Compare every result with the reference results, or with what it was when the study was finished."""
    input:
        lambda w: PLAN.to_verify(),
    log:
        f"{PLAN.logs}/verify.log",
    params:
        files=PLAN.results(),
        # No input: it would be made anew from the results.
        reference=PLAN.reference,
    script:
        "../../scripts/verify.py"


rule update_reference:
    """Make the results of this study the reference results that the repository keeps."""
    input:
        list(PLAN.kept_files().values()),
    output:
        list(PLAN.kept_files()),
    log:
        f"{PLAN.logs}/update_reference.log",
    params:
        code=PLAN.code("update_reference"),
    script:
        "../../scripts/update_reference.py"


if PLAN.study.study == DOOR:

    rule screenshot:
        """Take a picture of the first screen of the page, which needs Chromium."""
        input:
            PLAN.page,
        output:
            SCREENSHOT,
        log:
            f"{PLAN.logs}/screenshot.log",
        params:
            code=PLAN.code("screenshot"),
        script:
            "../../scripts/screenshot.py"
