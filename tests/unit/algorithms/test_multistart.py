from narxbench import StructureProblem, load_system, search


def test_it_finds_the_system_among_a_thousand_candidates_at_once():
    system = load_system("S1").with_candidates(n_u=5, n_y=5, degree=4)
    u, y = system.simulate(1000, snr_db=40)
    problem = StructureProblem(u, y, n_u=5, n_y=5, degree=4, n_validation=300)
    true = problem.evaluate(system.terms).fitness
    assert search(problem, algorithm="multistart", seed=1, evaluations=300).fitness <= true
