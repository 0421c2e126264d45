// Vectors of three, quaternions (w, x, y, z) and matrices of sixteen, columns one after the other.

/** @param {Vec} a @param {Vec} b */
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
/** @param {Vec} a @param {Vec} b */
const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
/** @param {Vec} a @param {number} s */
const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
/** @param {Vec} a @param {Vec} b */
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
/** @param {Vec} a @param {Vec} b */
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
/** @param {Vec} a */
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
/** @param {Vec} a */
const unit = (a) => scale(a, 1 / (norm(a) || 1));

/** world = R(q) · v @param {Vec} q @param {Vec} v */
function rotate(q, v) {
  const u = [q[1], q[2], q[3]], t = scale(cross(u, v), 2);
  return add(add(v, scale(t, q[0])), cross(u, t));
}

/** R(q)ᵀ · v @param {Vec} q @param {Vec} v */
const rotateBack = (q, v) => rotate([q[0], -q[1], -q[2], -q[3]], v);

/** The eye's matrix: rows right, up, toward; the eye stands at `at`. @type {ViewMatrix} */
function viewMatrix(right, up, toward, at) {
  return new Float32Array([right[0], up[0], toward[0], 0, right[1], up[1], toward[1], 0, right[2], up[2], toward[2], 0,
    -dot(right, at), -dot(up, at), -dot(toward, at), 1]);
}

/** @type {Perspective} */
function perspective(tangent, aspect, near, far) {
  return new Float32Array([1 / (tangent * aspect), 0, 0, 0, 0, 1 / tangent, 0, 0,
    0, 0, (near + far) / (near - far), -1, 0, 0, 2 * near * far / (near - far), 0]);
}

/** @type {Parallel} */
function parallel(half, aspect, depth) {
  return new Float32Array([1 / (half * aspect), 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, -1 / depth, 0, 0, 0, 0, 1]);
}

/** Four significant digits, with a thin unit. @param {number|null} value @param {string} [name] */
function quantity(value, name) {
  if (value === null || !isFinite(value)) return 'unknown';
  const text = value === 0 ? '0' : Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5
    ? String(Number(value.toPrecision(4))) : value.toExponential(2);
  return name ? `${text} ${name}` : text;
}
