"""Contact problems from arrays and files, every solver, laws written in Python."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from binding import raises  # noqa: E402
import tap  # noqa: E402
import delassus  # noqa: E402
import numpy  # noqa: E402
from delassus import Law, Problem  # noqa: E402

PROBLEMS = ROOT / "examples" / "problems"


def test_one_contact_as_by_hand():
    solution = Problem(numpy.eye(3), [-1, 2, 0], 0.3).solve(tol=1e-12)
    assert solution.converged and numpy.allclose(solution.r, [1, -0.3, 0]) and numpy.allclose(solution.u, [0, 1.7, 0])
    assert solution.residual <= 1e-12 and solution.measures.max_error < 1e-12


def test_every_solver_solves_a_file_and_all_agree():
    problem = Problem.read(PROBLEMS / "packing.hdf5")
    assert problem.contacts == 127 and problem.rows == 381 and len(problem.mu) == 127
    velocities = {name: problem.solve(name, tol=1e-8) for name in delassus.solvers()}
    for name, solution in velocities.items():
        assert solution.converged and solution.residual <= 1e-8, (name, solution.outcome)
        assert solution.solver.startswith(name)
        assert numpy.abs(solution.u - velocities["auto"].u).max() < 1e-6, name
    assert problem.solve("nlgs:ebp", tol=1e-6).law == "ebp"


def test_matrix_and_b_go_round():
    problem = Problem.generate("packing", 40, seed=3, mu=0.4)
    W = problem.matrix()
    assert numpy.allclose(W, W.T) and (numpy.linalg.eigvalsh(W) > -1e-12).all()
    same = Problem(W, problem.b, problem.mu)
    r = numpy.random.default_rng(0).random(problem.rows)
    assert numpy.allclose(same.velocity(r), W @ r + problem.b, atol=1e-14)
    assert same.contacts == problem.contacts and list(same.block_rows[:3]) == [0, 3, 6]
    first, second = problem.solve(tol=1e-9), same.solve(tol=1e-9)
    assert numpy.abs(first.u - second.u).max() < 1e-8


def test_unsymmetric_matrices_stay_so():
    W = numpy.array([[2.0, 0.5], [0.1, 1.0]])
    problem = Problem(W, [-1, 0.2], 0.5, dimension=2)
    assert (problem.matrix() == W).all() and problem.facts().asymmetry > 0.1
    W = numpy.array([[2.0, 0.5, 0.3], [0, 1.0, 0], [0, 0, 1.0]])  # rows of different lengths
    assert (Problem(W, [-1, 0.2, 0.1], 0.5).matrix() == W).all()


def test_sparse_matrices():
    try:
        import scipy.sparse
    except ImportError:
        raise tap.Skip("SciPy is not installed") from None
    problem = Problem.generate("stack", 30, seed=1)
    sparse = problem.matrix(sparse=True)
    assert scipy.sparse.issparse(sparse) and numpy.allclose(sparse.toarray(), problem.matrix())
    for form in (sparse, sparse.tocsc(), sparse.tocoo()):
        assert (Problem(form, problem.b, problem.mu).matrix() == problem.matrix()).all()


def test_bilateral_blocks_hold():
    W = numpy.diag([1.0, 1.0, 2.0, 2.0]) + 0.1
    problem = Problem(W, [-1, 0.1, 3, -4], [0.5], dimension=2, bilateral=1)
    solution = problem.solve(tol=1e-12)
    assert problem.blocks == 2 and problem.contacts == 1
    assert numpy.abs(solution.u[2:]).max() < 1e-10 and solution.r[2] < 0, solution.r


def test_files_are_written_and_read_to_the_same_bits():
    problem = Problem.generate("packing", 30, seed=5)
    solution = problem.solve(tol=1e-8)
    problem.write("p.hdf5", r=solution.r, u=solution.u, title="a packing", description="made here")
    again = Problem.read("p.hdf5")
    assert (again.matrix() == problem.matrix()).all() and (again.b == problem.b).all() and (again.mu == problem.mu).all()
    assert again.title == "a packing" and again.description == "made here" and (again.solution == solution.r).all()
    assert again.guesses == []
    again.rewrite("q.hdf5", 2 * solution.r)
    assert (Problem.read("q.hdf5").solution == 2 * solution.r).all()
    again.close()
    raises(delassus.ClosedError, "closed", lambda: again.title)


def test_a_law_in_python_solves_as_the_one_built_in():
    def sbp(W, mu, b, r):
        rho = 1 / numpy.linalg.eigvalsh(W)[-1]
        for _ in range(200):
            u = W @ r + b
            z = r - rho * (u + mu * numpy.linalg.norm(u[1:]) * numpy.array([1.0, 0, 0]))
            tangent = numpy.linalg.norm(z[1:])
            if tangent <= mu * z[0]:
                r = z
            elif mu * tangent <= -z[0]:
                r = numpy.zeros(3)
            else:
                n = (z[0] + mu * tangent) / (1 + mu * mu)
                r = numpy.array([n, *(z[1:] * mu * n / tangent)])
        return r
    problem = Problem.generate("packing", 12, seed=2)
    with Law("mine", sbp):
        assert "mine" in delassus.laws()
        mine = problem.solve("nlgs", law="mine", tol=1e-6)
        r, _, state = delassus.apply_law("mine", numpy.eye(3), [-1, 2, 0], 0.3)
        raises(delassus.ArgumentError, "one thread", problem.solve, "nlgs", law="mine", threads=2)
    assert mine.converged and mine.law == "mine" and numpy.allclose(r, [1, -0.3, 0]) and state == "slip"
    assert numpy.abs(mine.u - problem.solve(tol=1e-8).u).max() < 1e-4
    assert "mine" not in delassus.laws()
    raises(delassus.ArgumentError, "mine", problem.solve, "nlgs", law="mine")


def test_an_error_in_a_law_or_callback_surfaces_as_itself():
    problem = Problem.generate("packing", 60, seed=2)
    calls = []

    def broken(W, mu, b, r):
        calls.append(1)
        if len(calls) > 5:
            raise ZeroDivisionError("in the law")
        return r
    with Law("broken", broken):
        raises(ZeroDivisionError, "in the law", problem.solve, "nlgs", law="broken")
    assert len(calls) == 6, "the law was called again after it had failed"
    with Law("shape", lambda W, mu, b, r: [1.0]):
        raises(ValueError, "expected (3,)", problem.solve, "nlgs", law="shape")

    def stop(iterate):
        raise KeyboardInterrupt
    raises(KeyboardInterrupt, "", problem.solve, "nlgs", tol=1e-13, callback=stop)
    seen = []
    cancelled = problem.solve("nlgs", tol=1e-14, callback=lambda iterate: seen.append(iterate.iteration) or len(seen) < 4)
    assert cancelled.outcome == "cancelled" and len(seen) == 4 and not cancelled.converged
    assert problem.solve(tol=1e-8).converged, "an old error was left behind"


def test_options_are_checked_by_the_tables():
    problem = Problem(numpy.eye(3), [-1, 2, 0], 0.3)
    raises(delassus.ArgumentError, "did you mean 'relaxation'", problem.solve, "nlgs", relaxtion=1)
    raises(delassus.ArgumentError, "relaxation", problem.solve, "nlgs", relaxation=5)
    raises(delassus.ArgumentError, "no solver 'nlgz'", problem.solve, "nlgz")
    raises(TypeError, "expected a number", problem.solve, "nlgs", relaxation=[1])
    raises(delassus.ArgumentError, "order", problem.solve, "nlgs", order="sideways")


def test_wrong_arrays_are_refused():
    W, b = numpy.eye(3), [-1.0, 2.0, 0.0]
    raises(delassus.InputError, "expected 3 × 3", Problem, numpy.eye(4), b, 0.3)
    raises(TypeError, "complex128", Problem, W * 1j, b, 0.3)
    raises(TypeError, "expected float64", Problem, W, ["a", "b", "c"], 0.3)
    raises(delassus.InputError, "", Problem, W, [-1, numpy.nan, 0], 0.3)
    raises(delassus.InputError, "", Problem, W, b, -0.3)
    raises(delassus.InputError, "expected one for each", Problem, W, b, [0.3, 0.3], dimension=3)
    raises(delassus.InputError, "shape", Problem, W, [b], 0.3)
    problem = Problem(W, b, 0.3)
    raises(delassus.InputError, "r: shape (2,), expected 3", problem.solve, r=[0, 0])
    raises(delassus.InputError, "r: shape (4,), expected 3", problem.measure, numpy.zeros(4))
    raises(delassus.FileError, "nothing.hdf5", Problem.read, "nothing.hdf5")
    pathlib.Path("bad.hdf5").write_bytes((PROBLEMS / "packing.hdf5").read_bytes()[:5000])
    raises(delassus.FileError, "bad.hdf5", Problem.read, "bad.hdf5")
    raises(OSError, "", Problem.read, "nothing.hdf5")
    assert Problem(W.astype("f4")[:, ::-1][:, ::-1], numpy.array([-1, 2, 0]), 0.3).solve().converged, "views and other types"


tap.main(globals())
