// What bodies are coloured by, and the legend that says so.

const RAMP = [[59, 74, 133], [33, 130, 140], [74, 178, 115], [173, 209, 66], [250, 227, 51]];
const STICK = 0xc0392b, SLIP = 0xe0a020;

/** From dark blue through green to yellow. @param {number} t 0 … 1 */
function ramp(t) {
  const at = 4 * Math.min(1, Math.max(0, t || 0)), k = Math.min(3, Math.floor(at));
  return RAMP[k].map((c, i) => Math.round(c + (at - k) * (RAMP[k + 1][i] - c)));
}

/** Colours that differ, by number. @param {number} k */
function distinct(k) {
  const hue = (k * 0.618034 + 0.58) % 1, f = (/** @type {number} */ n) => {
    const a = (n + hue * 12) % 12;
    return Math.round(255 * (0.55 - 0.28 * Math.max(-1, Math.min(a - 3, 9 - a, 1))));
  };
  return [f(0), f(8), f(4)];
}

/**
 * A way to colour: values of a body, the largest over the run, its unit; or names of classes.
 * @typedef {{name: string, unit: string, value: (block: Block, row: number, body: number) => number, top: () => number,
 *   classes?: (value: number) => string}} Measure
 */

/** @param {Run} run @returns {Record<string, Measure>} */
function measuresOf(run) {
  const scene = run.scene, top = (/** @type {'speed'|'spin'|'energy'} */ key) => Math.max(...scene.blocks.map((b) => b[key]));
  const coordination = new Uint16Array(run.bodies);
  /** @type {Chains|null} */
  let counted = null;
  const count = (/** @type {Chains|undefined} */ chains) => {
    if (!chains || counted === chains) return;
    counted = chains;
    coordination.fill(0);
    for (let k = 0; k < chains.count; k++) {
      coordination[chains.a[k]]++;
      coordination[chains.b[k]]++;
    }
  };
  const reaches = scene.bodies.filter((b) => !b.motion).map((b) => b.reach);
  /** @type {Record<string, Measure>} */
  const measures = {
    speed: { name: 'speed', unit: 'm/s', value: (block, row, body) => run.speed(block, row, body), top: () => top('speed') },
    spin: { name: 'spin', unit: 'rad/s', value: (block, row, body) => run.spin(block, row, body), top: () => top('spin') },
    energy: { name: 'kinetic energy of translation', unit: 'J', top: () => top('energy'),
      value: (block, row, body) => 0.5 * (scene.bodies[body].mass || 0) * run.speed(block, row, body) ** 2 },
    size: { name: 'size', unit: 'm', value: (_block, _row, body) => scene.bodies[body].reach, top: () => reaches.reduce((a, b) => Math.max(a, b), 0) },
    id: { name: 'body', unit: '', value: (_block, _row, body) => body, top: () => 0, classes: () => '' },
    material: { name: 'material', unit: '', top: () => 0, classes: (k) => scene.materials[k] || `material ${k}`,
      value: (_block, _row, body) => (scene.bodies[body].shapes[0] || { material: 0 }).material || 0 },
  };
  if (scene.chains) measures.coordination = { name: 'contacts with a force', unit: '', top: () => (scene.dimension === 2 ? 6 : 12),
    value: (block, row, body) => {
      count(block.chains[row]);
      return coordination[body];
    } };
  return measures;
}

/** Colours of all bodies into tint; returns the largest value, which the scale ends at.
 * @param {Run} run @param {Block} block @param {number} row @param {Measure} measure @param {boolean} ofFrame @param {Uint8Array} tint @param {number[]} wall */
function colourBodies(run, block, row, measure, ofFrame, tint, wall) {
  let top = measure.top();
  const moves = (/** @type {number} */ b) => !run.scene.bodies[b].motion;
  if (ofFrame && !measure.classes) {
    top = 0;
    for (let b = 0; b < run.bodies; b++) if (moves(b) && run.isThere(block, row, b)) top = Math.max(top, measure.value(block, row, b));
  }
  const ladder = Array.from({ length: 256 }, (_, k) => ramp(k / 255));
  for (let b = 0; b < run.bodies; b++) {
    const value = moves(b) ? measure.value(block, row, b) : 0;
    const c = !moves(b) ? wall : measure.classes ? distinct(value) : ladder[Math.min(255, Math.round(255 * (top > 0 ? value / top : 0)))];
    tint[4 * b] = c[0];
    tint[4 * b + 1] = c[1];
    tint[4 * b + 2] = c[2];
    tint[4 * b + 3] = 255;
  }
  return top;
}

/** @param {HTMLCanvasElement} canvas */
function paintRamp(canvas) {
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  for (let x = 0; x < canvas.width; x++) {
    g.fillStyle = `rgb(${ramp(x / (canvas.width - 1)).join(',')})`;
    g.fillRect(x, 0, 1, canvas.height);
  }
}
