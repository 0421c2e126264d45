"""A contact problem of NumPy and SciPy as an FCLib file: a ball between floor and wall, pushed into the corner.

With the Python module (docs/python.md), the last two lines; with SciPy alone, the files of Matrix Market, which `delassus solve`
and `delassus compare` read: python3 write_problem.py, then delassus solve corner_W.mtx -o corner.hdf5"""
import numpy
import scipy.io
import scipy.sparse

H = numpy.array([[0, 1, 0], [1, 0, 0.1], [1, 0, 0], [0, 1, -0.1]])  # rows n, t of floor and wall; columns x, y, turn
W = scipy.sparse.csr_matrix(H @ numpy.diag([1 / 2, 1 / 2, 1 / 0.01]) @ H.T)  # H M^-1 H^T of 2 kg and 0.01 kg m^2
b = H @ numpy.array([-0.3, -0.1, 0])  # velocities without contact, m/s
mu = numpy.array([0.5, 0.2])  # one for each contact
for name, values in (("W", W), ("q", b[:, None]), ("mu", mu[:, None])):
    scipy.io.mmwrite(f"corner_{name}.mtx", values, precision=17)

try:
    import delassus
    delassus.Problem(W, b, mu, dimension=2).write("corner.hdf5", title="a ball in a corner")
except ImportError:
    print("no Python module of Delassus: corner_W.mtx and its neighbours are written, corner.hdf5 is not")
