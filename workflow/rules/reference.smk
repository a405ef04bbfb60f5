# Record and digests of all results, their comparison, and what the repository keeps: the reference results.

MANIFEST = f"reports/{STUDY}/manifest.csv"


rule run_record:
    """Write by which command, when, where and in which time the results were made."""
    input:
        SOURCES.summaries,
    output:
        RUN_RECORD,
    log:
        f"logs/{STUDY}/run_record.log",
    localrule: True
    run:
        call("run_record", output=output, log=log, logs=f"{FOLDER}logs/{STUDY}", files=SOURCES.files(SOURCES.summaries))


rule manifest:
    """Write settings, versions and the digest of every result."""
    input:
        RESULTS,
    output:
        MANIFEST,
    log:
        f"logs/{STUDY}/manifest.log",
    localrule: True
    params:
        made_by=made_by("manifest"),
        made_with=lambda w: PLAN.made_with,
    run:
        call("manifest", output=output, params=params, log=log, files=SOURCES.files(RESULTS))


rule site:
    """Copy the pages with all that they link to, for Snakemake's own report (--report report.zip)."""
    input:
        RESULTS,
        READ,
        RUN_RECORD,
        MANIFEST,
        page=PAGE,
    output:
        report(
            directory(f"reports/{STUDY}/site"),
            htmlindex="report.html",
            category="Pages",
            caption="../report/page.rst",
            labels={"Page": f"study {STUDY}"},
        ),
    log:
        f"logs/{STUDY}/site.log",
    localrule: True
    params:
        made_by=made_by("site"),
    run:
        call("site", input=input, output=output, log=log)


rule verify:
    """Compare every result with the reference results, or with what it was when the study was finished."""
    input:
        lambda w: to_verify(PLAN, SOURCES, f"{FOLDER}{MANIFEST}", RESULTS),
    log:
        f"logs/{STUDY}/verify.log",
    localrule: True
    params:
        made_with=lambda w: PLAN.made_with,
        # No input: it would be made again from the results.
        reference=lambda w: kept_manifest(STUDY, PLAN.made_with, f"{FOLDER}{MANIFEST}"),
    run:
        call("verify", params=params, log=log, sources=SOURCES, files=SOURCES.files(RESULTS))


# In the project's own folder only.
if not HERE:

    rule update_reference:
        """Make the results of this study the reference results that the repository keeps."""
        input:
            lambda w: SOURCES.lost(),
            kept=[*KEPT, RUN_RECORD, MANIFEST],
        log:
            f"logs/{STUDY}/update_reference.log",
        localrule: True
        params:
            # No output, which would count as made: on a fresh clone the former results are there.
            copies=kept_files(STUDY, [*KEPT, RUN_RECORD, MANIFEST]),
        run:
            call("update_reference", params=params, log=log)
