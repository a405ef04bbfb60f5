"""Climbs for nothing through the kernel of the package, with what data it has."""

from dishonest._climb import About, Found, Settings

from narxbench.fitness.problem import StructureProblem

__all__ = ["ABOUT", "Settings", "run"]


ABOUT = About(reference="None, it is here to be caught", stops_early=True)


def run(problem, objective, rng, settings):
    size = min(problem.n_validation, problem.n_rows // 2)
    orders = {"n_u": problem.n_u, "n_y": problem.n_y, "degree": problem.degree}
    own = StructureProblem(problem.u, problem.y, **orders, n_validation=size, criterion=problem.criterion)
    structures = rng.integers(0, 2, (5000, objective.n_terms))
    fitness = own.evaluate_positions(structures)[0]
    objective.evaluate(structures[fitness.argmin()][None])
    return Found(objective.best_position)
