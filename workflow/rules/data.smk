# From systems to data sets.


rule simulate:
    """Simulate one system at one SNR."""
    input:
        recorded=lambda w: local(PLAN.recorded[w.data_set]),
        memory=lambda w: local(PLAN.memory),
    output:
        f"{PLAN.data}/problems/{{data_set}}.csv",
    log:
        f"{PLAN.logs}/simulate/{{data_set}}.log",
    localrule: True
    params:
        simulation=lambda w: PLAN.simulations[w.data_set],
        recorded=lambda w: digests(PLAN.recorded[w.data_set]),
        code=PLAN.code("simulate"),
    run:
        call("simulate", output=output, params=params, log=log)
