// Where the eye is, and how hands move it.

const TANGENT = 0.3; // of half the angle of view
/** @type {Record<string, number[]>} yaw and pitch */
const VIEWS = { front: [-Math.PI / 2, 0], side: [0, 0], top: [-Math.PI / 2, Math.PI / 2], iso: [-Math.PI / 3, 0.45] };

class Camera {
  /** @param {boolean} flat @param {number[]} gravity */
  constructor(flat, gravity) {
    this.flat = flat;
    this.target = [0, 0, 0];
    this.distance = 1;
    this.yaw = VIEWS.iso[0];
    this.pitch = VIEWS.iso[1];
    this.basis = upwardBasis(flat, gravity);
  }

  /** Right, up and toward the eye. */
  axes() {
    const [e, n, u] = this.basis;
    if (this.flat) return [e, n, u];
    const c = Math.cos(this.pitch), s = Math.sin(this.pitch), out = add(scale(e, Math.cos(this.yaw)), scale(n, Math.sin(this.yaw)));
    const right = add(scale(e, -Math.sin(this.yaw)), scale(n, Math.cos(this.yaw)));
    const toward = add(scale(out, c), scale(u, s)), up = cross(toward, right);
    return [right, up, toward];
  }

  /** As near as all corners of a box are seen. @param {Vec} low @param {Vec} high @param {number} aspect */
  fit(low, high, aspect) {
    const [right, up, toward] = this.axes();
    this.target = scale(add(low, high), 0.5);
    this.distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const p = subtract([0, 1, 2].map((k) => (corner >> k & 1 ? high : low)[k]), this.target);
      const half = Math.max(Math.abs(dot(p, up)), Math.abs(dot(p, right)) / aspect);
      this.distance = Math.max(this.distance, 1.06 * half / TANGENT + (this.flat ? 0 : dot(p, toward)));
    }
    this.distance = this.distance || 1;
  }

  /** @param {number} quantum @param {number} width @param {number} height @param {Vec} cut */
  sight(quantum, width, height, cut) {
    const [right, up, toward] = this.axes(), aspect = width / height, origin = this.target.map((x) => Math.round(x / quantum));
    const left = subtract(this.target, scale(origin, quantum)), at = add(left, scale(toward, this.distance)), d = this.distance;
    const lens = this.flat ? parallel(TANGENT * d, aspect, 1e3 * d) : perspective(TANGENT, aspect, d / 100, 50 * d);
    const moved = [cut[0], cut[1], cut[2], cut[3] - dot(cut, scale(origin, quantum))];
    return { at: add(this.target, scale(toward, d)), origin, eye: viewMatrix(right, up, toward, at), lens, pixel: 2 * TANGENT * (this.flat ? d : 1) / height, ortho: this.flat, cut: moved };
  }

  /** @param {number} across pixels @param {number} down @param {number} height of the canvas */
  turn(across, down, height) {
    if (this.flat) return this.move(across, down, height);
    this.yaw -= across * 3 / height;
    this.pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, this.pitch + down * 3 / height));
  }

  /** @param {number} across @param {number} down @param {number} height */
  move(across, down, height) {
    const [right, up] = this.axes(), size = 2 * TANGENT * this.distance / height;
    this.target = add(this.target, add(scale(right, -across * size), scale(up, down * size)));
  }

  zoom(factor = 0) { this.distance = Math.max(1e-9, Math.min(1e9, this.distance * factor)); }

  look(name = '') { [this.yaw, this.pitch] = VIEWS[name]; }

  get text() { return [...this.target, this.distance, this.yaw, this.pitch].map((x) => Number(x.toPrecision(7))).join(','); }

  set text(text) {
    const numbers = text.split(',').map(Number);
    if (numbers.length !== 6 || !numbers.every(isFinite) || numbers[3] <= 0) return;
    this.target = numbers.slice(0, 3);
    [this.distance, this.yaw, this.pitch] = numbers.slice(3);
  }
}

/** Two level axes and the one against gravity, z without it. @param {boolean} flat @param {number[]} gravity */
function upwardBasis(flat, gravity) {
  if (flat) return [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  const sizes = gravity.map(Math.abs), axis = norm(gravity) > 0 ? sizes.indexOf(Math.max(...sizes)) : 2;
  const up = [0, 0, 0], east = [0, 0, 0];
  up[axis] = gravity[axis] > 0 ? -1 : 1;
  east[(axis + 1) % 3] = 1;
  return [east, cross(up, east), up];
}

/** Pointers, wheel and touch on the canvas. @type {ListenToHands} */
function listenToHands(canvas, camera, changed, clicked) {
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let wandered = 0;
  canvas.addEventListener('contextmenu', (e) => e.preventDefault());
  canvas.addEventListener('pointerdown', (e) => {
    canvas.setPointerCapture(e.pointerId);
    down.set(e.pointerId, { x: e.clientX, y: e.clientY });
    wandered = down.size > 1 ? 1e9 : 0;
  });
  canvas.addEventListener('pointermove', (e) => {
    const before = down.get(e.pointerId);
    if (!before) return;
    const across = e.clientX - before.x, up = e.clientY - before.y, height = canvas.clientHeight;
    const other = [...down.entries()].find(([id]) => id !== e.pointerId);
    wandered += Math.hypot(across, up);
    if (other) {
      const was = Math.hypot(before.x - other[1].x, before.y - other[1].y), is = Math.hypot(e.clientX - other[1].x, e.clientY - other[1].y);
      if (is > 0) camera.zoom(was / is);
      camera.move(across / 2, up / 2, height);
    } else if (e.shiftKey || e.buttons & 6) camera.move(across, up, height);
    else camera.turn(across, up, height);
    down.set(e.pointerId, { x: e.clientX, y: e.clientY });
    changed();
  });
  canvas.addEventListener('pointerup', (e) => {
    if (down.delete(e.pointerId) && wandered < 4) {
      const box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width;
      clicked(Math.floor((e.clientX - box.left) * ratio), Math.floor((e.clientY - box.top) * ratio));
    }
  });
  canvas.addEventListener('pointercancel', (e) => down.delete(e.pointerId));
  canvas.addEventListener('wheel', (e) => {
    e.preventDefault();
    camera.zoom(Math.exp(e.deltaY * 0.0015));
    changed();
  }, { passive: false });
}
