# A study from its settings to its page: data, runs, summaries, frames, tables, figures.
#
#   snakemake --cores 8                                             the paper's study
#   snakemake --cores 2 --configfile config/quick.yaml              a first try
#   snakemake --cores 8 --configfile config/interpretations.yaml    what the paper leaves open
#   snakemake --cores 8 --configfile config/methods.yaml            which method to use
#   snakemake --cores 8 verify                                      the results, compared with those of the reference
#   snakemake --cores 8 update_reference                            the study, and new reference results of it
#
# The rules are in workflow/, where other workflows can use them too.
module narxbench:
    snakefile:
        "workflow/Snakefile"
    config:
        config


use rule * from narxbench


onstart:
    from narxbench._pipeline.session import stop_timers

    stop_timers(workflow)


onsuccess:
    from narxbench._pipeline.session import say_answer

    say_answer()
