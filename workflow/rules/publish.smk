# The results that the repository keeps: run it on a fresh clone and see with git whether anything differs.


rule publish:
    """Copy tables and figures of the full experiment to docs/results."""
    input:
        lambda w: results_to_keep(),


rule keep_table:
    """Copy one table."""
    input:
        "reports/tables/{file}",
    output:
        "docs/results/{file}",
    log:
        "logs/publish/{file}.log",
    wildcard_constraints:
        file=r"[^/]+\.(csv|md)",
    shell:
        "cp {input} {output} 2> {log}"


rule keep_figure:
    """Copy one figure."""
    input:
        "reports/figures/{file}.svg",
    output:
        "docs/results/{file}.svg",
    log:
        "logs/publish/{file}.svg.log",
    shell:
        "cp {input} {output} 2> {log}"


rule keep_fidelity:
    """Copy what is known of readings."""
    input:
        "reports/fidelity{file}",
    output:
        "docs/fidelity{file}",
    log:
        "logs/publish/fidelity{file}.log",
    wildcard_constraints:
        file=r"\.md|/(?!cells\.csv)[a-z]+\.(csv|json|svg)",
    shell:
        "cp {input} {output} 2> {log}"
