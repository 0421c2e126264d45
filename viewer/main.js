// The page comes to life: controls, the loop that plays, and what is said about the frame.

/** @template {HTMLElement} T @param {string} id @param {new () => T} kind @returns {T} */
function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

/** @param {string} id */
const box = (id) => element(id, HTMLInputElement);
/** @param {string} id */
const choice = (id) => element(id, HTMLSelectElement);
/** @param {string} id */
const part = (id) => element(id, HTMLElement);

class Viewer {
  /** @param {Run} run @param {Block} first */
  constructor(run, first) {
    this.run = run;
    this.canvas = element('scene', HTMLCanvasElement);
    this.painter = new Painter(this.canvas, run);
    this.camera = new Camera(run.scene.dimension === 2, run.scene.gravity);
    this.bounds = boundsOf(run, first);
    this.measures = measuresOf(run);
    this.plots = plotsOf(run);
    /** @type {Record<string, Plot>} */
    this.pickPlots = {};
    this.timeline = new Timeline(element('curve', HTMLCanvasElement), element('strip', HTMLCanvasElement), run, (time) => this.seek(time));
    this.frame = 0;
    /** @type {{block: Block, row: number}} */
    this.now = { block: first, row: 0 };
    /** @type {Picked|null} */
    this.pick = null;
    this.playing = false;
    this.waiting = false;
    this.shown = 0;
    this.clock = 0; // s of the run
    const size = norm(subtract(this.bounds.high, this.bounds.low));
    this.painter.setSurfaces(gatherSurfaces(run, first, scale(add(this.bounds.low, this.bounds.high), 0.5), 0.8 * size));
  }

  // ---- what is drawn ----

  /** Draws before long; several calls are one. */
  refresh() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  get cut() {
    const axis = ['x', 'y', 'z'].indexOf(choice('clip-axis').value), plane = [0, 0, 0, 1];
    if (axis < 0) return plane;
    const share = Number(box('clip').value) / 1000, { low, high } = this.bounds;
    plane[axis] = 1;
    plane[3] = low[axis] + share * (high[axis] - low[axis]);
    return plane;
  }

  get sight() {
    const cut = this.cut;
    const sight = this.camera.sight(this.run.scene.quantum, this.canvas.width, this.canvas.height, cut);
    if (!choice('clip-axis').value) sight.cut = [0, 0, 0, 1];
    return sight;
  }

  paint() {
    const ratio = Math.min(2, window.devicePixelRatio || 1), width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    const { block, row } = this.now;
    if (box('follow').checked && this.pick && this.pick.kind === 'body') this.camera.target = this.run.place(block, row, this.pick.id);
    const sight = this.sight;
    this.lay(sight.origin);
    this.painter.draw(sight, false, this.backColour());
    this.shown++;
    this.canvas.dataset.painted = String(this.shown);
  }

  backColour() {
    const text = getComputedStyle(document.documentElement).getPropertyValue('--page').trim();
    return [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16) / 255);
  }

  /** Chains, normals, joints and trails, which depend on where the eye's origin is. @param {number[]} origin */
  lay(origin) {
    const { block, row } = this.now, painter = this.painter, list = block.chains[row], joints = this.run.scene.joints.length;
    const chains = box('chains').checked, normals = box('normals').checked, trails = this.trails();
    const points = trails.reduce((sum, trail) => sum + trail.length, 0);
    painter.chains.begin((list ? list.count : 0) * (Number(chains) + Number(normals)) + 4 * joints + points);
    painter.marks.begin(joints);
    addChains(this.run, block, row, painter.chains, origin, chains, normals);
    if (box('joints').checked && joints) addJoints(this.run, block, row, painter.chains, painter.marks, origin);
    for (const trail of trails) addTrail(trail, this.run, painter.chains, origin, 0x7a869a);
    painter.chains.send();
    painter.marks.send();
  }

  /** Ways of the picked body, else of all where they are few, over the frames of this block so far. */
  trails() {
    if (!box('trails').checked) return [];
    const { block, row } = this.now, bodies = this.run.scene.bodies.map((b, id) => (b.motion ? -1 : id)).filter((id) => id >= 0);
    const which = this.pick && this.pick.kind === 'body' ? [this.pick.id] : bodies.slice(0, 500);
    return which.map((id) => {
      const path = [];
      for (let r = Math.max(0, row - 60); r <= row; r++) if (this.run.isThere(block, r, id)) path.push(this.run.place(block, r, id));
      return path;
    });
  }

  // ---- frames ----

  /** @param {number} frame */
  async show(frame) {
    const wanted = Math.max(0, Math.min(this.run.frames - 1, Math.round(frame) || 0));
    this.frame = wanted;
    const now = await this.run.at(wanted);
    if (this.frame !== wanted) return;
    this.now = now;
    this.painter.setFrame(now.block, now.row);
    this.recolour();
    this.tell();
    this.refresh();
    if (now.row === now.block.facts.count - 1 && wanted + 1 < this.run.frames) void this.run.at(wanted + 1);
  }

  /** The last frame that is not later. @param {number} time */
  seek(time) {
    const frames = this.run.scene.frames;
    let found = 0;
    frames.forEach((f, k) => { if ((f[2] || 0) <= time + 1e-12) found = k; });
    this.pause();
    void this.show(found);
  }

  recolour() {
    const measure = this.measures[choice('colour').value], { block, row } = this.now, dark = this.backColour()[0] < 0.5;
    const top = colourBodies(this.run, block, row, measure, box('per-frame').checked, this.painter.tint, dark ? [86, 94, 104] : [196, 202, 209]);
    if (this.pick && this.pick.kind === 'body') this.painter.tint.set([230, 60, 160, 255], 4 * this.pick.id);
    this.painter.sendColours();
    part('legend-name').textContent = measure.name + (measure.unit ? `, ${measure.unit}` : '') + (box('per-frame').checked ? ', of this frame' : '');
    part('legend-scale').hidden = part('legend-ends').hidden = Boolean(measure.classes);
    part('legend-low').textContent = '0';
    part('legend-high').textContent = quantity(top);
    part('legend-chains').hidden = !box('chains').checked;
    const force = Math.max(...this.run.scene.blocks.map((b) => b.force));
    part('legend-force').textContent = `widest ${quantity(force, 'N')}`;
  }

  /** What the frame is. */
  tell() {
    const [shown, step, time, certified, residual, held, , iterations, contacts] = this.run.scene.frames[this.frame];
    box('frame').value = String(this.frame);
    const moment = `t = ${quantity(time, 's')}, step ${step}, frame ${shown}`;
    part('time').textContent = moment;
    const verdict = part('certificate');
    verdict.className = certified === 1 ? 'good' : certified === 0 ? 'bad' : '';
    verdict.textContent = certified === -1 ? 'initial state, nothing solved yet'
      : `${certified ? 'certified' : 'NOT certified'}: residual ${quantity(residual)}${held === null ? '' : `, held ${quantity(held)}`}, ${contacts} contacts, ${iterations} iterations`;
    box('frame').setAttribute('aria-valuetext', moment);
    this.canvas.setAttribute('aria-label', `${this.run.scene.title || 'The scene'}: ${this.run.bodies} bodies, ${moment}, ${verdict.textContent}`);
    if (!this.playing) part('said').textContent = `${moment}, ${verdict.textContent}`;
    this.tellPick();
    this.drawPlot();
  }

  drawPlot() {
    const name = choice('plot').value, plot = this.plots[name] || this.pickPlots[name] || this.plots.energies;
    const style = getComputedStyle(document.documentElement), time = this.run.scene.frames[this.frame][2] || 0;
    this.timeline.draw(plot, time, style.getPropertyValue('--ink'), style.getPropertyValue('--bad'));
    part('curve-key').replaceChildren(...plot.curves.map((curve) => {
      const item = document.createElement('span'), dash = document.createElement('i');
      dash.style.background = curve.colour;
      item.append(dash, curve.name);
      return item;
    }));
  }

  // ---- picking ----

  /** @param {Picked|null} pick */
  async choose(pick) {
    const list = this.now.block.chains[this.now.row];
    if (pick && pick.kind === 'contact' && !pick.pair) pick.pair = [list.a[pick.id], list.b[pick.id]];
    this.pick = pick;
    part('picked').hidden = !pick;
    this.recolour();
    this.tellPick();
    this.refresh();
    this.pickPlots = pick ? await pickedPlots(this.run, pick) : {};
    if (this.pick === pick) this.listPlots(pick ? Object.keys(this.pickPlots)[0] : choice('plot').value);
  }

  tellPick() {
    if (!this.pick) return;
    part('picked-name').textContent = pickedName(this.run, this.pick);
    part('picked-rows').replaceChildren(...pickedRows(this.run, this.now.block, this.now.row, this.pick).map(([name, value]) => {
      const row = document.createElement('tr'), head = document.createElement('th'), cell = document.createElement('td');
      head.textContent = name;
      cell.textContent = value;
      cell.dataset.name = name;
      row.append(head, cell);
      return row;
    }));
  }

  /** @param {string} [chosen] */
  listPlots(chosen) {
    const names = [...Object.keys(this.plots), ...Object.keys(this.pickPlots)];
    fill(choice('plot'), names, chosen && names.includes(chosen) ? chosen : names[0]);
    this.drawPlot();
  }

  // ---- playing ----

  play() {
    if (this.frame >= this.run.frames - 1) void this.show(0);
    this.playing = true;
    part('play').textContent = '⏸';
    part('play').setAttribute('aria-label', 'Pause');
    let last = performance.now();
    this.clock = this.frame >= this.run.frames - 1 ? this.run.scene.frames[0][2] || 0 : this.run.scene.frames[this.frame][2] || 0;
    const tick = async (/** @type {number} */ now) => {
      if (!this.playing) return;
      this.clock += Math.min(0.1, (now - last) / 1000) * Number(choice('speed').value);
      last = now;
      const frames = this.run.scene.frames;
      let next = this.frame;
      while (next + 1 < frames.length && (frames[next + 1][2] || 0) <= this.clock) next++;
      if (next !== this.frame) await this.show(next);
      if (next >= frames.length - 1) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.playing = false;
    part('play').textContent = '▶';
    part('play').setAttribute('aria-label', 'Play');
  }

  // ---- out of the page ----

  get state() {
    /** @type {Record<string, string>} */
    const state = { frame: String(this.frame), camera: this.camera.text, colour: choice('colour').value };
    if (box('chains').checked) state.chains = '1';
    if (this.pick) state.pick = [this.pick.kind, this.pick.id, ...(this.pick.pair || [])].join(':');
    return state;
  }

  /** @param {Record<string, string>} state */
  async restore(state) {
    if (state.camera) this.camera.text = state.camera;
    if (state.colour && this.measures[state.colour]) choice('colour').value = state.colour;
    box('chains').checked = state.chains === '1' && this.run.scene.chains;
    await this.show(Number(state.frame || 0));
    const [kind, id, ...pair] = (state.pick || '').split(':'), number = Number(id);
    const bound = kind === 'body' ? this.run.bodies : kind === 'joint' ? this.run.scene.joints.length : kind === 'contact' && pair.length === 2 ? Infinity : 0;
    const known = pair.every((b) => Number(b) >= 0 && Number(b) < this.run.bodies);
    if (known && number >= 0 && number < bound && Number.isInteger(number))
      await this.choose(kind === 'contact' ? { kind, id: number, pair: pair.map(Number) } : { kind, id: number });
  }

  get caption() { return [this.run.scene.title, `${part('time').textContent}; ${part('certificate').textContent}`].filter(Boolean); }

  composed() {
    const measure = this.measures[choice('colour').value], ink = getComputedStyle(document.documentElement).getPropertyValue('--ink');
    const legend = measure.classes ? measure.name : `${measure.name}: 0 … ${part('legend-high').textContent} ${measure.unit}`;
    return compose(this.canvas, this.caption, ink, measure.classes ? null : element('legend-scale', HTMLCanvasElement), legend);
  }

  savePicture() {
    this.paint();
    this.composed().toBlob((blob) => { if (blob) hand(blob, `frame-${this.frame}.png`); });
  }

  async saveFilm() {
    const button = element('webm', HTMLButtonElement), before = this.frame;
    button.disabled = true;
    this.pause();
    try {
      const blob = await film(this.canvas, this.run.frames, 25, async (frame) => {
        await this.show(frame);
        this.paint();
        button.textContent = `${Math.round(100 * (frame + 1) / this.run.frames)} %`;
      });
      hand(blob, 'run.webm');
    } catch (error) {
      part('said').textContent = String(error);
    }
    button.textContent = 'WebM';
    button.disabled = false;
    await this.show(before);
  }

  saveLink() {
    history.replaceState(null, '', linkOf(this.state));
    part('said').textContent = 'The address of the page now holds this frame, view and pick.';
    if (navigator.clipboard) navigator.clipboard.writeText(location.href).catch(() => {});
  }

  fit() {
    this.camera.fit(this.bounds.low, this.bounds.high, this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight));
    this.refresh();
  }
}

/** What moves, in the first frame and, unless it flies far off, in all; bodies alone where nothing moves.
 * @param {Run} run @param {Block} block */
function boundsOf(run, block) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const take = (/** @type {boolean} */ walls) => run.scene.bodies.forEach((body, id) => {
    if (!run.isThere(block, 0, id) || Boolean(body.motion) !== walls) return;
    const x = run.place(block, 0, id);
    for (let k = 0; k < 3; k++) {
      low[k] = Math.min(low[k], x[k] - body.reach);
      high[k] = Math.max(high[k], x[k] + body.reach);
    }
  });
  take(false);
  run.scene.joints.forEach((joint) => {
    for (const [body, local] of /** @type {[number, number[]][]} */ ([[joint.a, joint.xa], [joint.b, joint.xb]])) {
      const x = worldPoint(run, block, 0, body, local, [0, 0, 0]);
      for (let k = 0; k < 3; k++) [low[k], high[k]] = [Math.min(low[k], x[k]), Math.max(high[k], x[k])];
    }
  });
  if (!(low[0] <= high[0])) take(true);
  if (!(low[0] <= high[0])) return { low: [-1, -1, -1], high: [1, 1, 1] };
  const size = norm(subtract(high, low)) || 1, { low: least, high: most } = run.scene;
  if (norm(subtract(most, least)) < 4 * size)
    for (let k = 0; k < 3; k++) [low[k], high[k]] = [Math.min(low[k], least[k]), Math.max(high[k], most[k])];
  const seen = norm(subtract(high, low)), extent = (/** @type {Shape} */ s) => (s.radius || 0) + norm(s.size || [0, 0, 0]) / 2;
  run.scene.bodies.forEach((body, id) => { // containers that hold it all
    const x = run.place(block, 0, id), reach = 0.75 * Math.max(0, ...body.shapes.map(extent));
    if (body.motion && reach > 0 && reach < seen)
      for (let k = 0; k < 3; k++) [low[k], high[k]] = [Math.min(low[k], x[k] - reach), Math.max(high[k], x[k] + reach)];
  });
  return { low, high };
}

/** @param {HTMLSelectElement} select @param {string[]} names @param {string} chosen */
function fill(select, names, chosen) {
  select.replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
}

/** What the page has to say about itself. @param {Scene} scene */
function notesOf(scene) {
  const notes = [`Places are true to ${quantity(scene.quantum / 2, 'm')}, ${quantity(50 * scene.quantum / scene.smallest)} % of the smallest radius; rotations to 0.2°; speeds to 0.1 % of the largest; forces to 4.4 %.`];
  if (scene.beyond) notes.push(`${scene.beyond} coordinates lie too far away to be told, and stand at the edge.`);
  if (scene.frames.length < scene.result_frames) notes.push(`Thinned to keep the page small: ${scene.frames.length} of ${scene.result_frames} frames.`);
  if (scene.left_out) notes.push(`The weakest ${Math.ceil(100 * scene.left_out / scene.contacts)} % of the contacts are left out to keep the page small.`);
  if (!scene.chains) notes.push('The run recorded no contacts: there are no force chains.');
  if (scene.history_steps > 1) notes.push(`Curves have a point for ${scene.history_steps} steps: energies as they end, of all else the worst.`);
  if (!scene.finished) notes.push('The run had not come to its end.');
  notes.push(`Made by delassus ${scene.version}; solver ${scene.solver}, tolerance ${quantity(scene.tolerance)}.`);
  return notes;
}

/** @param {Viewer} viewer */
function describe(viewer) {
  const scene = viewer.run.scene;
  part('title').textContent = scene.title || 'A run of delassus';
  part('facts').textContent = `${scene.bodies.length} bodies, ${scene.frames.length} frames, ${scene.steps} steps, ` +
    (scene.uncertified ? `${scene.uncertified} of them NOT certified` : 'all certified');
  part('notes-list').replaceChildren(...notesOf(scene).map((note) => {
    const item = document.createElement('li');
    item.textContent = note;
    return item;
  }));
  element('strip', HTMLCanvasElement).setAttribute('aria-label', `${scene.uncertified} of ${scene.steps} steps were not certified`);
  box('frame').max = String(viewer.run.frames - 1);
  fill(choice('colour'), Object.keys(viewer.measures), 'speed');
  box('chains').disabled = box('normals').disabled = !scene.chains;
  (/** @type {HTMLElement} */ (box('joints').parentElement)).hidden = !scene.joints.length;
  part('views').hidden = scene.dimension === 2;
  paintRamp(element('legend-scale', HTMLCanvasElement));
}

/** @param {Viewer} viewer */
function connect(viewer) {
  const click = (/** @type {string} */ id, /** @type {() => void} */ act) => part(id).addEventListener('click', act);
  const step = (/** @type {number} */ by) => {
    viewer.pause();
    void viewer.show(viewer.frame + by);
  };
  click('play', () => (viewer.playing ? viewer.pause() : viewer.play()));
  click('back', () => step(-1));
  click('forward', () => step(1));
  click('fit', () => viewer.fit());
  click('png', () => viewer.savePicture());
  click('webm', () => void viewer.saveFilm());
  click('link', () => viewer.saveLink());
  click('unpick', () => void viewer.choose(null));
  click('theme', () => {
    const dark = viewer.backColour()[0] < 0.5;
    document.documentElement.dataset.theme = dark ? 'light' : 'dark';
    viewer.recolour();
    viewer.tell();
    viewer.refresh();
  });
  box('frame').addEventListener('input', () => {
    viewer.pause();
    void viewer.show(Number(box('frame').value));
  });
  for (const id of ['colour', 'per-frame', 'chains', 'normals', 'joints', 'trails', 'follow', 'clip-axis', 'clip'])
    part(id).addEventListener('input', () => {
      box('clip').hidden = !choice('clip-axis').value;
      viewer.recolour();
      viewer.refresh();
    });
  choice('plot').addEventListener('input', () => viewer.drawPlot());
  for (const button of document.querySelectorAll('#views button'))
    button.addEventListener('click', () => {
      viewer.camera.look(button.getAttribute('data-view') || 'iso');
      viewer.refresh();
    });
  listenToHands(viewer.canvas, viewer.camera, () => viewer.refresh(), (x, y) => void viewer.choose(viewer.painter.pick(viewer.sight, x, y)));
  window.addEventListener('hashchange', () => void viewer.restore(stateOf(location.hash)));
  new ResizeObserver(() => {
    viewer.refresh();
    viewer.drawPlot();
  }).observe(part('stage'));
  listenToKeys(viewer, step);
}

/** @param {Viewer} viewer @param {(by: number) => void} step */
function listenToKeys(viewer, step) {
  const views = ['front', 'side', 'top', 'iso'], height = () => viewer.canvas.clientHeight;
  const toggle = (/** @type {string} */ id) => { if (!box(id).disabled) box(id).click(); };
  /** @type {Record<string, (e: KeyboardEvent) => void>} */
  const keys = {
    ' ': () => part('play').click(),
    ArrowLeft: (e) => (e.shiftKey ? viewer.camera.turn(-40, 0, height()) : step(-1)),
    ArrowRight: (e) => (e.shiftKey ? viewer.camera.turn(40, 0, height()) : step(1)),
    ArrowUp: (e) => { if (e.shiftKey) viewer.camera.turn(0, -40, height()); },
    ArrowDown: (e) => { if (e.shiftKey) viewer.camera.turn(0, 40, height()); },
    Home: () => step(-viewer.frame), End: () => step(viewer.run.frames),
    '+': () => viewer.camera.zoom(0.85), '=': () => viewer.camera.zoom(0.85), '-': () => viewer.camera.zoom(1 / 0.85),
    '0': () => viewer.fit(), c: () => toggle('chains'), f: () => toggle('follow'), l: () => viewer.saveLink(),
    Escape: () => void viewer.choose(null),
  };
  views.forEach((name, k) => { keys[String(k + 1)] = () => viewer.camera.look(name); });
  document.addEventListener('keydown', (e) => {
    const busy = e.target instanceof HTMLSelectElement || e.target instanceof HTMLInputElement || e.target instanceof HTMLButtonElement;
    if (busy && e.key !== 'Escape' || e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    e.preventDefault();
    keys[e.key](e);
    viewer.refresh();
  });
}

async function begin() {
  const run = await Run.open(), { block } = await run.at(0);
  part('main').hidden = false;
  const viewer = new Viewer(run, block);
  describe(viewer);
  viewer.fit();
  await viewer.restore(stateOf(location.hash));
  viewer.listPlots();
  connect(viewer);
  part('problem').hidden = true;
  document.documentElement.dataset.ready = 'yes';
}

begin().catch((error) => {
  const message = error instanceof Error ? error.message : String(error);
  part('problem').hidden = false;
  part('problem').textContent = `The run cannot be shown: ${message}`;
  part('main').hidden = true;
});
