# From systems to data sets.


localrules:
    simulate,


rule simulate:
    """Simulate one system at one SNR."""
    input:
        lambda w: PLAN.recorded_input(w.data_set),
    output:
        f"{PLAN.data}/problems/{{data_set}}.csv",
    log:
        f"{PLAN.logs}/simulate/{{data_set}}.log",
    params:
        simulation=lambda w: PLAN.simulation(w.data_set),
        code=PLAN.code("simulate"),
    run:
        call("scripts/simulate.py", output=output, params=params, log=log)
