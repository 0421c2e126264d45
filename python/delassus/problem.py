"""Contact problems u = W r + b with Coulomb friction, their solvers, and FCLib files."""
import ctypes
import dataclasses

import numpy

from . import _c
from ._arrays import address, real_array, whole, whole_array
from ._library import (ArgumentError, InputError, Object, Owner, checked, choices, encoded, lib, new_pointer, path_bytes,
                       pending, text)
from ._options import SolverRow, refuse_unknown
from ._laws import refuse_threads

GENERATORS = {name: value for name, value in choices("dls_generator", "GENERATE_").items() if name != "generators"}


@dataclasses.dataclass(frozen=True)
class Solution:
    """What a solver found, judged by the one judge.

    r, u: impulses (N s) and velocities (m/s), rows of contacts in the order n, t₁, t₂.
    outcome: 'converged', 'iteration limit', …; not to converge is no error.
    measures: the certificate: residual, max_error, held, …
    """
    r: numpy.ndarray
    u: numpy.ndarray
    solver: str
    law: str
    outcome: str
    iterations: int
    seconds: float
    measures: _c.dls_measures
    stages: tuple

    @property
    def converged(self) -> bool:
        return self.outcome == "converged"

    @property
    def residual(self) -> float:
        return self.measures.residual


class Problem(Object):
    """A contact problem. It never changes; threads may share it.

    W: square, a NumPy array or a SciPy sparse matrix; unsymmetric ones stay so.
    b: velocity without contact impulses, rows of contacts in the order n, t₁, t₂.
    mu: friction of each contact, or one for all.
    dimension: rows of each contact, 1 to 4; by default from the sizes of b and mu, 3 where mu is one number.
    bilateral: how many blocks of `dimension` rows at the end hold u = 0 instead of being contacts.
    reference_velocity: v_ref of the judge, m/s; 0 for none.

    >>> solution = Problem(numpy.eye(3), [-1, 2, 0], 0.3).solve(tol=1e-10)
    >>> solution.outcome, solution.r.round(6)[:2]
    ('converged', array([ 1. , -0.3]))
    """

    def __init__(self, W, b=None, mu=None, *, dimension=None, bilateral=0, reference_velocity=0.0):
        if isinstance(W, ctypes._Pointer):  # made by the library
            self._owner = Owner("problem", W, lib.dls_problem_destroy)
            return
        if b is None or mu is None:
            raise TypeError("a problem needs W, b and mu")
        b = real_array(b, "b", (-1,))
        friction = real_array(mu, "mu").reshape(-1)
        if dimension is None:
            dimension = 3 if friction.size == 1 and len(b) % 3 == 0 else len(b) // max(friction.size + bilateral, 1)
        if dimension < 1 or len(b) % dimension:
            raise InputError(f"b: {len(b)} rows, expected a multiple of {dimension}")
        blocks = len(b) // dimension
        if friction.size == 1:
            friction = numpy.full(max(blocks - bilateral, 0), friction[0])
        if not 0 <= bilateral <= blocks or friction.size != blocks - bilateral:
            raise InputError(f"mu: {friction.size} numbers, expected one for each of {blocks - bilateral} contacts")
        friction = numpy.append(friction, numpy.zeros(bilateral))
        kinds = numpy.zeros(blocks, numpy.uint8)
        kinds[blocks - bilateral:] = _c.DLS_INTERVAL
        start, column, value = compressed_rows(W, len(b))
        definition = lib.dls_default_problem_def()
        definition.block_count, definition.dimension = blocks, dimension
        definition.block_kind = address(kinds) if bilateral else None
        definition.mu, definition.b = address(friction), address(b)
        definition.reference_velocity = float(reference_velocity)
        csr = _c.dls_csr(len(b), len(b), address(start), address(column), address(value))
        self._owner = Owner("problem", new_pointer(_c.dls_problem, lib.dls_problem_create, ctypes.byref(definition),
                                                   ctypes.byref(csr)), lib.dls_problem_destroy)

    @classmethod
    def read(cls, path, *, as_stored=False) -> "FileProblem":
        """The problem of an FCLib file, local or global; its title, solution and guesses come with it.

        A file with one triangle of the mass matrix M means the symmetric one; as_stored takes it literally.
        """
        return FileProblem(path, as_stored)

    @classmethod
    def generate(cls, kind="packing", size=100, *, mu=None, seed=None, matrix_free=False, mu_rolling=None,
                 mu_spinning=None) -> "Problem":
        """A problem of about so many contacts: 'packing', 'stack', 'discs', 'rolling' or 'mixed'.

        >>> Problem.generate("discs", 50, seed=1).contacts > 30
        True
        """
        if kind not in GENERATORS:
            raise ArgumentError(f"no generator '{kind}'; there are {', '.join(GENERATORS)}")
        definition = lib.dls_default_generate_def()
        definition.kind, definition.size, definition.matrix_free = GENERATORS[kind], whole(size, "size"), bool(matrix_free)
        if seed is not None:
            definition.seed = whole(seed, "seed", 0, 2**64 - 1)
        for key, value in (("mu", mu), ("mu_rolling", mu_rolling), ("mu_spinning", mu_spinning)):
            if value is not None:
                setattr(definition, key, float(value))
        return cls(new_pointer(_c.dls_problem, lib.dls_problem_generate, ctypes.byref(definition)))

    # ---- what it holds ----

    @property
    def contacts(self) -> int:
        return self._owner.ask(lib.dls_problem_contact_count)

    @property
    def blocks(self) -> int:
        """Contacts and intervals."""
        return self._owner.ask(lib.dls_problem_block_count)

    @property
    def rows(self) -> int:
        return self._owner.ask(lib.dls_problem_row_count)

    @property
    def b(self) -> numpy.ndarray:
        return self._owner.ask(lambda problem: copied(lib.dls_problem_b(problem), lib.dls_problem_row_count(problem)))

    @property
    def mu(self) -> numpy.ndarray:
        """Of each block; 0 of intervals."""
        return self._owner.ask(lambda problem: numpy.array([
            lib.dls_problem_mu(problem, block) for block in range(lib.dls_problem_block_count(problem))]))

    @property
    def block_rows(self) -> numpy.ndarray:
        """The first row of each block, and the number of rows behind the last."""
        return self._owner.ask(lambda problem: numpy.array([
            *(lib.dls_problem_block_row(problem, block) for block in range(lib.dls_problem_block_count(problem))),
            lib.dls_problem_row_count(problem)]))

    def matrix(self, sparse=False):
        """W as a dense array, or as a SciPy matrix by rows."""
        owner, stored = self._owner, None
        with owner.turn.lock:
            problem = owner.alive()
            if not lib.dls_problem_is_stored(problem):
                problem = stored = new_pointer(_c.dls_problem, lib.dls_problem_assemble, problem)
            try:
                rows, count = lib.dls_problem_row_count(problem), lib.dls_problem_export(problem, None, None, None)
                start, column = numpy.empty(rows + 1, numpy.int64), numpy.empty(count, numpy.int32)
                value = numpy.empty(count)
                lib.dls_problem_export(problem, address(start), address(column), address(value))
            finally:
                lib.dls_problem_destroy(stored) if stored else None
        if sparse:
            import scipy.sparse
            return scipy.sparse.csr_matrix((value, column, start), (rows, rows))
        dense = numpy.zeros((rows, rows))
        numpy.add.at(dense, (numpy.repeat(numpy.arange(rows), numpy.diff(start)), column), value)
        return dense

    def facts(self, dense_limit=2000) -> _c.dls_problem_facts:
        """What there is to know of W without solving: asymmetry, rank, condition, …"""
        facts = _c.dls_problem_facts()
        self._owner.call(lib.dls_problem_analyze, whole(dense_limit, "dense_limit"), ctypes.byref(facts))
        return facts

    # ---- solving ----

    def solve(self, solver="auto", *, tol=None, r=None, callback=None, **options) -> Solution:
        """Solves it; other Python threads run meanwhile.

        solver: its name, or 'nlgs:exact' for a law of it. tol: the tolerance. r: the start, zeros by default.
        callback: called after iterations with the iterate (iteration, residual, seconds); False ends the solve.
        Other keywords are options of the solver: see options(solver).
        """
        name, _, law = solver.partition(":") if isinstance(solver, str) else (solver, "", "")
        row = SolverRow(name)
        if law:
            options["law"] = law
        if tol is not None:
            options["tolerance"] = tol
        refuse_unknown(options, row.fields)
        row.set(options)
        refuse_threads(row)
        thunk = take_callback(row, callback)  # lives until the end of the call
        rows = self.rows
        start = numpy.zeros(rows) if r is None else real_array(r, "r", (rows,)).copy()
        u, info = numpy.empty(rows), _c.dls_solve_info()
        self._owner.share(lib.dls_solve, row.row, ctypes.byref(row.bytes), address(start), address(u), None,
                          ctypes.byref(info))
        del thunk
        stages = tuple((text(stage.name), stage.iterations, stage.seconds, stage.residual)
                       for stage in info.stages[:info.stage_count])
        return Solution(start, u, text(info.solver), text(info.law), text(lib.dls_outcome_name(info.outcome)),
                        info.iterations, info.seconds, _c.dls_measures.from_buffer_copy(info.measures), stages)

    def measure(self, r, u=None) -> _c.dls_measures:
        """The certificate of any r (with u = W r + b unless it is given)."""
        rows, found = self.rows, _c.dls_measures()
        r = real_array(r, "r", (rows,))
        u = None if u is None else real_array(u, "u", (rows,))
        self._owner.call(lib.dls_problem_measure, address(r), address(u), ctypes.byref(found))
        return found

    def velocity(self, r) -> numpy.ndarray:
        """u = W r + b."""
        rows = self.rows
        r, u = real_array(r, "r", (rows,)), numpy.empty(rows)
        self._owner.call(lib.dls_problem_velocity, address(r), address(u), None)
        return u

    def contradiction(self) -> _c.dls_contradiction:
        """A proof that there is no solution, where one is found: found, closing, impulse, blocks."""
        found = _c.dls_contradiction()
        self._owner.call(lib.dls_find_contradiction, None, ctypes.byref(found))
        return found

    def write(self, path, *, r=None, u=None, title=None, description=None, math_info=None):
        """Writes a local FCLib file, with r and u as its solution."""
        rows = self.rows
        r = None if r is None else real_array(r, "r", (rows,))
        u = None if u is None else real_array(u, "u", (rows,))
        with self._owner.turn.lock:
            content = _c.dls_fclib_content(self._owner.alive(), address(r), address(u), *(
                None if value is None else encoded(value, key) for key, value in
                (("title", title), ("description", description), ("math_info", math_info))))
            checked(lib.dls_fclib_write, path_bytes(path), ctypes.byref(content))


class FileProblem(Problem):
    """A problem that was read from an FCLib file, with what stands beside it there."""

    def __init__(self, path, as_stored=False):
        read = lib.dls_fclib_read_stored if as_stored else lib.dls_fclib_read
        file = new_pointer(_c.dls_fclib, read, path_bytes(path))
        self._file, destroy = file, lib.dls_fclib_destroy
        self._owner = Owner("problem", lib.dls_fclib_problem(file), lambda _: destroy(file))  # the file's: it ends with it

    @property
    def title(self) -> str:
        return self._ask(lambda file: text(lib.dls_fclib_title(file)))

    @property
    def description(self) -> str:
        return self._ask(lambda file: text(lib.dls_fclib_description(file)))

    @property
    def solution(self):
        """The impulses that the file has, or None. They are often zero and prove nothing."""
        return self._ask(lambda file: self._numbers(lib.dls_fclib_solution(file)))

    @property
    def guesses(self):
        return self._ask(lambda file: [self._numbers(lib.dls_fclib_guess(file, index))
                                       for index in range(lib.dls_fclib_guess_count(file))])

    def _ask(self, question):
        with self._owner.turn.lock:
            self._owner.alive()
            return question(self._file)

    def _numbers(self, source):
        return copied(source, self.rows) if source else None

    def rewrite(self, path, r, u=None):
        """The same file with r and u as its solution; all else in it stays as it is."""
        rows = self.rows
        r = real_array(r, "r", (rows,))
        u = None if u is None else real_array(u, "u", (rows,))
        self._ask(lambda file: checked(lib.dls_fclib_rewrite, path_bytes(path), file, address(r), address(u)))


def copied(source, count):
    return numpy.ctypeslib.as_array(source, (count,)).copy() if count else numpy.zeros(0)


def compressed_rows(W, rows):
    """start, column and value of a dense array or of anything with tocsr()."""
    if hasattr(W, "tocsr"):
        matrix = W.tocsr()
        if matrix.shape != (rows, rows):
            raise InputError(f"W: shape {matrix.shape}, expected {rows} × {rows}")
        return (whole_array(matrix.indptr, "W", numpy.int64), whole_array(matrix.indices, "W"),
                real_array(matrix.data, "W", (-1,)))
    dense = real_array(W, "W", (rows, rows))
    row, column = numpy.nonzero(dense)
    start = numpy.zeros(rows + 1, numpy.int64)
    numpy.cumsum(numpy.bincount(row, minlength=rows), out=start[1:])
    return start, numpy.ascontiguousarray(column, numpy.int32), numpy.ascontiguousarray(dense[row, column])


def take_callback(row, callback):
    """Puts a callback into a solver's options, also without one: an error in a law has to end the solve."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback: expected a function, found {type(callback).__name__}")
    if callback is None and not row.law():
        return None

    def answer(iterate, _):
        if pending.error is not None:
            return False
        try:
            return callback is None or callback(iterate[0]) is not False
        except BaseException as error:  # it waits for the end of the solve, whatever it is
            pending.error = error
            return False
    thunk = _c.dls_iterate_callback(answer)
    row.stop.callback = thunk
    return thunk
