// The page comes to life: controls, the loop that plays, and what is said about the frame.

/** @template {HTMLElement} T @param {string} id @param {new () => T} kind */
function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

const box = (id = '') => element(id, HTMLInputElement);
const choice = (id = '') => element(id, HTMLSelectElement);
const sheet = (id = '') => element(id, HTMLCanvasElement);
const part = (id = '') => element(id, HTMLElement);
/** @param {string} id @param {string} text */
const say = (id, text) => { part(id).textContent = text; };

/** An element that says something. @param {string} tag @param {...(string|Node)} content */
function make(tag, ...content) {
  const made = document.createElement(tag);
  made.append(...content);
  return made;
}

/** A colour or size of the style. @param {string} name */
const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const SWITCHES = ['chains', 'normals', 'joints', 'trails', 'open', 'per-frame', 'follow'];

class Viewer {
  /** @param {Run} run @param {Moment} first */
  constructor(run, first) {
    this.run = run;
    this.canvas = sheet('scene');
    this.painter = new Painter(this.canvas, run);
    this.camera = new Camera(run.scene.dimension === 2, run.scene.gravity);
    this.bounds = boundsOf(first);
    this.measures = measuresOf(run);
    this.plots = plotsOf(run);
    /** @type {Record<string, Plot>} */
    this.pickPlots = {};
    this.timeline = new Timeline(sheet('curve'), sheet('strip'), run, (time) => this.seek(time));
    this.frame = 0;
    this.now = first;
    /** @type {Moment[]} before now, where there are trails */
    this.past = [];
    /** @type {Picked|null} */
    this.pick = null;
    this.playing = false;
    this.waiting = false;
    this.shown = 0;
    this.laid = '';
    this.clock = 0; // s of the run
    const size = norm(subtract(this.bounds.high, this.bounds.low));
    this.painter.setSurfaces(gatherSurfaces(first, scale(add(this.bounds.low, this.bounds.high), 0.5), 0.8 * size));
  }

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

  get sight() { return this.camera.sight(this.run.scene.quantum, this.canvas.width, this.canvas.height, this.cut); }

  paint() {
    const ratio = Math.min(2, window.devicePixelRatio || 1), width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    if (box('follow').checked && this.pick && this.pick.kind === 'body') this.camera.target = this.now.place(this.pick.id);
    const sight = this.sight;
    this.lay(sight.origin);
    this.painter.opens = box('open').checked;
    this.painter.draw(sight, false, this.backColour());
    this.shown++;
    Object.assign(this.canvas.dataset, { painted: this.shown, unpacked: this.run.bytes });
  }

  backColour() {
    return [1, 3, 5].map((k) => parseInt(styled('--page').slice(k, k + 2), 16) / 255);
  }

  /** Chains, normals, joints and trails, which depend on where the eye's origin is. @param {Vec} origin */
  lay(origin) {
    const key = [this.frame, this.past.length, this.pick && this.pick.id, origin, ...SWITCHES.map((id) => box(id).checked)].join();
    if (this.laid === key) return;
    this.laid = key;
    const now = this.now, painter = this.painter, joints = this.run.scene.joints.length;
    const chains = box('chains').checked, normals = box('normals').checked, trails = this.trails();
    const points = trails.reduce((sum, trail) => sum + trail.length, 0);
    painter.chains.begin((now.chains ? now.chains.count : 0) * (Number(chains) + Number(normals)) + 4 * joints + points);
    painter.marks.begin(joints);
    addChains(now, painter.chains, origin, chains, normals);
    if (box('joints').checked && joints) addJoints(now, painter.chains, painter.marks, origin);
    for (const trail of trails) addTrail(trail, this.run, painter.chains, origin, 0x7a869a);
    painter.chains.send();
    painter.marks.send();
  }

  /** Ways of the picked body, else of those that move, if few, so far. */
  trails() {
    const moving = this.run.scene.bodies.flatMap((b, id) => (b.motion ? [] : [id])).slice(0, 500);
    const which = this.pick && this.pick.kind === 'body' ? [this.pick.id] : this.past.length ? moving : [];
    return which.map((id) => this.past.filter((then) => then.isThere(id)).map((then) => then.place(id)));
  }

  async show(frame = 0) {
    const wanted = Math.max(0, Math.min(this.run.frames - 1, Math.round(frame) || 0));
    this.frame = wanted;
    const now = await this.run.at(wanted), first = Math.max(0, wanted - 60), length = box('trails').checked ? wanted - first + 1 : 0;
    const past = await Promise.all(Array.from({ length }, (_, k) => this.run.at(first + k)));
    if (this.frame !== wanted) return;
    this.now = now;
    this.past = past;
    this.painter.setFrame(now);
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
    const measure = this.measures[choice('colour').value], dark = this.backColour()[0] < 0.5;
    const top = colourBodies(this.now, measure, box('per-frame').checked, this.painter.tint, dark ? [86, 94, 104] : [196, 202, 209]);
    this.painter.stress = top > 0 ? this.now.block.facts.stress / top : 0;
    if (this.pick && this.pick.kind === 'body') this.painter.tint.set([230, 60, 160, 255], 4 * this.pick.id);
    this.run.stands.forEach((body, k) => this.painter.tint.copyWithin(4 * (this.run.bodies + k), 4 * body, 4 * body + 4));
    this.painter.sendColours();
    say('legend-name', measure.name + (measure.unit ? `, ${measure.unit}` : '') + (box('per-frame').checked ? ', of this frame' : ''));
    part('legend-scale').hidden = part('legend-ends').hidden = Boolean(measure.classes);
    say('legend-low', '0');
    say('legend-high', quantity(top));
    part('legend-classes').replaceChildren(...(measure.classes || []).map((name, k) => {
      const dot = make('i', '■ ');
      dot.style.color = `rgb(${distinct(k)})`;
      return make('div', dot, name);
    }));
    part('legend-chains').hidden = !box('chains').checked;
    say('legend-force', `widest ${quantity(this.run.top('force'), 'N')}`);
  }

  /** What the frame is. */
  tell() {
    const [shown, step, time, certified, residual, held, , iterations, contacts] = this.now.facts;
    box('frame').value = String(this.frame);
    const moment = `t = ${quantity(time, 's')}, step ${step}, frame ${shown}`;
    say('time', moment);
    const verdict = part('certificate');
    verdict.className = certified === 1 ? 'good' : certified === 0 ? 'bad' : '';
    verdict.textContent = certified === -1 ? 'initial state, nothing solved yet'
      : `${certified ? 'certified' : 'NOT certified'}: residual ${quantity(residual)}${held === null ? '' : `, held ${quantity(held)}`}, ${contacts} contacts, ${iterations} iterations`;
    box('frame').setAttribute('aria-valuetext', moment);
    this.canvas.setAttribute('aria-label', `${this.run.scene.title || 'The scene'}: ${this.run.bodies} bodies, ${moment}, ${verdict.textContent}`);
    if (!this.playing) say('said', `${moment}, ${verdict.textContent}`);
    this.tellPick();
    this.drawPlot();
  }

  drawPlot() {
    const name = choice('plot').value, plot = this.plots[name] || this.pickPlots[name] || this.plots.energies;
    this.timeline.draw(plot, this.run.scene.frames[this.frame][2] || 0, styled('--ink'), styled('--bad'));
    part('curve-key').replaceChildren(...plot.curves.map((curve) => {
      const dash = make('i');
      dash.style.background = curve.colour;
      return make('span', dash, curve.name);
    }));
  }

  /** @param {Picked|null} pick */
  async choose(pick) {
    const list = this.now.chains;
    if (pick && list && pick.kind === 'contact' && !pick.pair) pick.pair = [list.a[pick.id], list.b[pick.id]];
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
    say('picked-name', pickedName(this.run, this.pick));
    part('picked-rows').replaceChildren(...pickedRows(this.now, this.pick).map(([name, value]) => {
      const cell = make('td', value);
      cell.dataset.name = name;
      return make('tr', make('th', name), cell);
    }));
  }

  /** @param {string} [chosen] */
  listPlots(chosen) {
    const names = [...Object.keys(this.plots), ...Object.keys(this.pickPlots)];
    fill(choice('plot'), names, chosen && names.includes(chosen) ? chosen : names[0]);
    this.drawPlot();
  }

  play() {
    if (this.frame >= this.run.frames - 1) void this.show(0);
    this.playing = true;
    say('play', '⏸');
    part('play').setAttribute('aria-label', 'Pause');
    let last = performance.now();
    this.clock = this.frame >= this.run.frames - 1 ? this.run.scene.frames[0][2] || 0 : this.run.scene.frames[this.frame][2] || 0;
    const tick = async (now = 0) => {
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
    say('play', '▶');
    part('play').setAttribute('aria-label', 'Play');
  }

  get state() {
    /** @type {Words} */
    const state = { frame: String(this.frame), camera: this.camera.text, colour: choice('colour').value };
    for (const id of SWITCHES) state[id] = String(Number(box(id).checked));
    state.cut = choice('clip-axis').value + box('clip').value;
    if (this.pick) state.pick = [this.pick.kind, this.pick.id, ...(this.pick.pair || [])].join(':');
    return state;
  }

  /** @param {Words} state */
  async restore(state) {
    if (state.camera) this.camera.text = state.camera;
    if (state.colour && this.measures[state.colour]) choice('colour').value = state.colour;
    for (const id of SWITCHES) if (state[id]) box(id).checked = !box(id).disabled && state[id] === '1';
    const [cut, axis, share] = /^([xyz]?)(\d+)$/.exec(state.cut || '') || [];
    if (cut) [choice('clip-axis').value, box('clip').value, box('clip').hidden] = [axis, share, !axis];
    await this.show(Number(state.frame || 0));
    const [kind, id, ...pair] = (state.pick || '').split(':'), number = Number(id);
    const bound = kind === 'body' ? this.run.bodies : kind === 'joint' ? this.run.scene.joints.length : kind === 'contact' && pair.length === 2 ? Infinity : 0;
    const known = pair.every((b) => Number(b) >= 0 && Number(b) < this.run.bodies);
    if (known && number >= 0 && number < bound && Number.isInteger(number))
      await this.choose(kind === 'contact' ? { kind, id: number, pair: pair.map(Number) } : { kind, id: number });
  }

  get caption() { return [this.run.scene.title, `${part('time').textContent}; ${part('certificate').textContent}`].filter(Boolean); }

  composed() {
    const measure = this.measures[choice('colour').value];
    const legend = measure.classes ? measure.name : `${measure.name}: 0 … ${part('legend-high').textContent} ${measure.unit}`;
    return compose(this.canvas, this.caption, styled('--ink'), measure.classes ? null : sheet('legend-scale'), legend, measure.classes || []);
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
      say('said', String(error));
    }
    button.textContent = 'WebM';
    button.disabled = false;
    await this.show(before);
  }

  saveLink() {
    history.replaceState(null, '', linkOf(this.state));
    say('said', 'The address of the page now holds this frame, view and pick.');
    if (navigator.clipboard) navigator.clipboard.writeText(location.href).catch(() => {});
  }

  look(name = '') {
    this.camera.look(name);
    this.fit();
  }

  fit() {
    this.camera.fit(this.bounds.low, this.bounds.high, this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight));
    this.refresh();
  }
}

/** What is seen at first, with the joints of the first frame. @param {Moment} now */
function boundsOf(now) {
  const low = [...now.scene.low], high = [...now.scene.high];
  now.scene.joints.forEach((_, id) => jointEnds(now, id, [0, 0, 0]).forEach((x) => x.forEach((value, k) => {
    low[k] = Math.min(low[k], value);
    high[k] = Math.max(high[k], value);
  })));
  return { low, high };
}

/** @type {Fill} */
function fill(select, names, chosen) {
  select.replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
}

/** What the page has to say about itself. @param {Scene} scene */
function notesOf(scene) {
  const notes = [`Places are true to ${quantity(scene.quantum / 2, 'm')}, ${quantity(50 * scene.quantum / scene.smallest)} % of the smallest radius; rotations to 0.2°; speeds and stresses to 0.1 % of the largest; forces to 4.4 %.`];
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
  say('title', scene.title || 'A run of delassus');
  say('facts', `${scene.bodies.length} bodies, ${scene.frames.length} frames, ${scene.steps} steps, ` +
    (scene.uncertified ? `${scene.uncertified} of them NOT certified` : 'all certified'));
  part('notes-list').replaceChildren(...notesOf(scene).map((note) => make('li', note)));
  sheet('strip').setAttribute('aria-label', `${scene.uncertified} of ${scene.steps} steps were not certified`);
  box('frame').max = String(viewer.run.frames - 1);
  fill(choice('colour'), Object.keys(viewer.measures), 'speed');
  box('chains').disabled = box('normals').disabled = !scene.chains;
  part('joints-label').hidden = !scene.joints.length;
  part('views').hidden = part('open-label').hidden = scene.dimension === 2;
  paintRamp(sheet('legend-scale'));
}

/** @param {Viewer} viewer */
function connect(viewer) {
  const click = (id = '', act = () => {}) => part(id).addEventListener('click', act);
  const step = (by = 0) => {
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
  for (const id of ['colour', ...SWITCHES, 'clip-axis', 'clip'])
    part(id).addEventListener('input', () => {
      box('clip').hidden = !choice('clip-axis').value;
      void viewer.show(viewer.frame);
    });
  choice('plot').addEventListener('input', () => viewer.drawPlot());
  for (const button of document.querySelectorAll('#views button'))
    button.addEventListener('click', () => {
      viewer.look(button.getAttribute('data-view') || 'iso');
    });
  listenToHands(viewer.canvas, viewer.camera, () => viewer.refresh(), (x, y) => void viewer.choose(viewer.painter.pick(viewer.sight, x, y)));
  window.addEventListener('hashchange', () => void viewer.restore(stateOf(location.hash)));
  new ResizeObserver(() => {
    viewer.refresh();
    viewer.drawPlot();
  }).observe(part('stage'));
  viewer.canvas.addEventListener('webglcontextlost', () => refuse('the graphics driver gave up; reload the page'));
  listenToKeys(viewer, step);
}

/** @param {Viewer} viewer @param {(by: number) => void} step */
function listenToKeys(viewer, step) {
  const views = ['front', 'side', 'top', 'iso'], height = () => viewer.canvas.clientHeight;
  const toggle = (id = '') => { if (!box(id).disabled) box(id).click(); };
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
  views.forEach((name, k) => { keys[String(k + 1)] = () => viewer.look(name); });
  document.addEventListener('keydown', (e) => {
    const busy = e.target instanceof HTMLSelectElement || e.target instanceof HTMLInputElement || e.target instanceof HTMLButtonElement;
    if (busy && e.key !== 'Escape' || e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    e.preventDefault();
    keys[e.key](e);
    viewer.refresh();
  });
}

async function begin() {
  const run = await Run.open(), first = await run.at(0);
  part('main').hidden = false;
  const viewer = new Viewer(run, first);
  describe(viewer);
  viewer.fit();
  await viewer.restore(stateOf(location.hash));
  viewer.listPlots();
  connect(viewer);
  part('problem').hidden = true;
  document.documentElement.dataset.ready = 'yes';
}

/** @param {unknown} error */
function refuse(error) {
  part('problem').hidden = false;
  say('problem', `The run cannot be shown: ${error instanceof Error ? error.message : error}`);
  part('main').hidden = true;
}

begin().catch(refuse);
