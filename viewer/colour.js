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
  const hue = (k * 0.618034 + 0.58) % 1, f = (n = 0) => {
    const a = (n + hue * 12) % 12;
    return Math.round(255 * (0.55 - 0.28 * Math.max(-1, Math.min(a - 3, 9 - a, 1))));
  };
  return [f(0), f(8), f(4)];
}

/** @param {Run} run */
function measuresOf(run) {
  const scene = run.scene, coordination = new Uint16Array(run.bodies);
  /** @type {Chains|undefined} */
  let counted;
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
    speed: { name: 'speed', unit: 'm/s', value: (now, body) => now.speed(body), top: () => run.top('speed') },
    spin: { name: 'spin', unit: 'rad/s', value: (now, body) => now.spin(body), top: () => run.top('spin') },
    energy: { name: 'kinetic energy of translation', unit: 'J', top: () => run.top('energy'),
      value: (now, body) => 0.5 * (scene.bodies[body].mass || 0) * now.speed(body) ** 2 },
    size: { name: 'size', unit: 'm', value: (_now, body) => scene.bodies[body].reach, top: () => reaches.reduce((a, b) => Math.max(a, b), 0) },
    id: { name: 'body', unit: '', value: (_now, body) => body, top: () => 0, classes: [] },
    material: { name: 'material', unit: '', top: () => 0, classes: scene.materials.map((name, k) => name || `material ${k}`),
      value: (_now, body) => (scene.bodies[body].shapes[0] || { material: 0 }).material || 0 },
  };
  if (run.top('stress') > 0)
    measures.stress = { name: 'von Mises stress', unit: 'Pa', value: (now, body) => now.stress(body), top: () => run.top('stress'), ofPoints: true };
  if (scene.chains) measures.coordination = { name: 'contacts with a force', unit: '', top: () => (scene.dimension === 2 ? 6 : 12),
    value: (now, body) => {
      count(now.chains);
      return coordination[body];
    } };
  return measures;
}

/** Colours of all bodies into tint, without opacity where their points have their own; returns the largest value, which the scale
 * ends at. @type {ColourBodies} */
function colourBodies(now, measure, ofFrame, tint, wall) {
  const bodies = now.scene.bodies, ladder = Array.from({ length: 256 }, (_, k) => ramp(k / 255));
  let top = measure.top();
  if (ofFrame && !measure.classes)
    top = bodies.reduce((most, body, b) => (body.motion || !now.isThere(b) ? most : Math.max(most, measure.value(now, b))), 0);
  bodies.forEach((body, b) => {
    const value = body.motion ? 0 : measure.value(now, b);
    const c = body.motion ? wall : measure.classes ? distinct(value) : ladder[Math.min(255, Math.round(255 * (top > 0 ? value / top : 0)))];
    tint.set(c, 4 * b);
    tint[4 * b + 3] = measure.ofPoints && body.solid === 'skin' ? 0 : 255;
  });
  return top;
}

/** @param {Canvas} canvas */
const penOf = (canvas) => /** @type {Pen} */ (canvas.getContext('2d'));

/** @param {Canvas} canvas */
function paintRamp(canvas) {
  const g = penOf(canvas);
  for (let x = 0; x < canvas.width; x++) {
    g.fillStyle = `rgb(${ramp(x / (canvas.width - 1)).join(',')})`;
    g.fillRect(x, 0, 1, canvas.height);
  }
}
