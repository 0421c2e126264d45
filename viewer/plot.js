// Curves over time under the scene, the playhead on them, and the strip of steps that were not certified.

const INKS = ['#2f7bd9', '#d9822f', '#2e9d57', '#b04bc8'];
const MARGIN_LEFT = 64, MARGIN_RIGHT = 12;

/** Columns of the history by what they are. @param {Run} run */
function plotsOf(run) {
  const t = run.column(0), frames = run.scene.frames, times = frames.map((f) => f[2] || 0);
  /** @type {MakePlot} */
  const plot = (title, unit, logarithmic, columns) =>
    ({ title, unit, logarithmic, curves: columns.map(([name, k], i) => ({ name, x: t, y: run.column(k), colour: INKS[i] })) });
  /** @type {Record<string, Plot>} */
  const plots = {
    energies: plot('energies', 'J', false, [['kinetic', 1], ['potential', 2], ['dissipated', 3], ['unaccounted', 4]]),
    contacts: plot('contacts', '', false, [['contacts', 5]]),
    residual: { ...plot('residual', '', true, [['residual', 6]]), limit: run.scene.tolerance },
    held: plot('held', '', true, [['held', 7]]),
    penetration: plot('penetration', 'm', false, [['penetration', 8]]),
    iterations: plot('iterations', '', false, [['iterations', 9]]),
  };
  if (run.scene.chains) plots.container = { title: 'container force', unit: 'N', logarithmic: false,
    curves: [{ name: 'contacts on what does not move freely', x: times, y: frames.map((f) => f[9] || 0), colour: INKS[0] }] };
  if (run.scene.joints.length) plots['joint gap'] = plot('joint gap', 'm or rad', true, [['largest', 11]]);
  return plots;
}

/** @param {Plot} plot */
function rangeOf(plot) {
  let low = Infinity, high = -Infinity;
  for (const { y } of plot.curves)
    for (let k = 0; k < y.length; k++)
      if (isFinite(y[k]) && (!plot.logarithmic || y[k] > 0)) {
        low = Math.min(low, y[k]);
        high = Math.max(high, y[k]);
      }
  if (plot.limit) [low, high] = [Math.min(low, plot.limit), Math.max(high, plot.limit)];
  if (!(low <= high)) [low, high] = plot.logarithmic ? [0.1, 1] : [0, 1];
  if (!plot.logarithmic) low = Math.min(Math.abs(low) < 1e-9 * high ? 0 : low, 0);
  return high > low ? [low, high] : [low, low + (Math.abs(low) || 1)];
}

class Timeline {
  /** @param {Canvas} curve @param {Canvas} strip @param {Run} run @param {(time: number) => void} sought */
  constructor(curve, strip, run, sought) {
    this.curve = curve;
    this.strip = strip;
    this.run = run;
    const frames = run.scene.frames;
    this.first = frames[0][2] || 0;
    this.last = Math.max(frames[frames.length - 1][2] || 0, this.first + 1e-9);
    const seek = (/** @type {PointerEvent} */ e) => {
      const box = curve.getBoundingClientRect(), inner = box.width - MARGIN_LEFT - MARGIN_RIGHT;
      sought(this.first + (e.clientX - box.left - MARGIN_LEFT) / inner * (this.last - this.first));
    };
    for (const canvas of [curve, strip]) {
      canvas.addEventListener('pointerdown', (e) => {
        canvas.setPointerCapture(e.pointerId);
        seek(e);
      });
      canvas.addEventListener('pointermove', (e) => { if (e.buttons) seek(e); });
    }
  }

  /** @param {number} t @param {number} width */
  x(t, width) { return MARGIN_LEFT + (t - this.first) / (this.last - this.first) * (width - MARGIN_LEFT - MARGIN_RIGHT); }

  /** A canvas of as many pixels as it takes on the screen. @param {Canvas} canvas */
  paper(canvas) {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    const g = penOf(canvas);
    g.scale(ratio, ratio);
    return { g, width, height };
  }

  /** @param {number} time @param {string} ink @param {string} bad */
  drawStrip(time, ink, bad) {
    const { g, width, height } = this.paper(this.strip), t = this.run.column(0), missed = this.run.column(10);
    g.strokeStyle = ink;
    g.globalAlpha = 0.3;
    g.strokeRect(MARGIN_LEFT, 0.5, width - MARGIN_LEFT - MARGIN_RIGHT, height - 1);
    g.globalAlpha = 1;
    g.fillStyle = bad;
    for (let k = 0; k < t.length; k++) if (missed[k] > 0) g.fillRect(this.x(t[k], width) - 1, 0, 2, height);
    g.fillStyle = ink;
    g.fillRect(this.x(time, width) - 0.75, 0, 1.5, height);
  }

  /** @param {Plot} plot @param {number} time @param {string} ink @param {string} bad */
  draw(plot, time, ink, bad) {
    this.drawStrip(time, ink, bad);
    const { g, width, height } = this.paper(this.curve), [low, high] = rangeOf(plot), bottom = height - 18, top = 14;
    const level = (v = 0) => (plot.logarithmic ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
    const y = (v = 0) => bottom - level(v) * (bottom - top);
    g.font = '11px system-ui, sans-serif';
    g.fillStyle = g.strokeStyle = ink;
    g.textAlign = 'right';
    g.fillText(quantity(high), MARGIN_LEFT - 6, top + 4);
    g.fillText(quantity(low), MARGIN_LEFT - 6, bottom);
    g.textAlign = 'left';
    g.fillText(plot.title + (plot.unit ? `, ${plot.unit}` : ''), MARGIN_LEFT, 10);
    g.fillText(quantity(this.first, 's'), MARGIN_LEFT, height - 4);
    g.textAlign = 'right';
    g.fillText(quantity(this.last, 's'), width - MARGIN_RIGHT, height - 4);
    g.globalAlpha = 0.3;
    g.strokeRect(MARGIN_LEFT, top, width - MARGIN_LEFT - MARGIN_RIGHT, bottom - top);
    g.globalAlpha = 1;
    if (plot.limit) this.stroke(g, bad, [[MARGIN_LEFT, y(plot.limit)], [width - MARGIN_RIGHT, y(plot.limit)]]);
    for (const curve of plot.curves) {
      /** @type {number[][]} */
      let line = [];
      for (let k = 0; k < curve.x.length; k++) {
        const v = curve.y[k];
        if (isFinite(v) && (!plot.logarithmic || v > 0)) line.push([this.x(curve.x[k], width), y(v)]);
        else line = this.stroke(g, curve.colour, line);
      }
      this.stroke(g, curve.colour, line);
    }
    g.fillStyle = ink;
    g.fillRect(this.x(time, width) - 0.75, top, 1.5, bottom - top);
  }

  /** @param {Pen} g @param {string} colour @param {number[][]} line @returns {number[][]} none */
  stroke(g, colour, line) {
    g.strokeStyle = colour;
    g.lineWidth = 1.3;
    g.beginPath();
    line.forEach(([x, y], k) => (k ? g.lineTo(x, y) : g.moveTo(x, y)));
    g.stroke();
    return [];
  }
}
