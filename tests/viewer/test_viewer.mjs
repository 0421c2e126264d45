// Plays, scrubs, picks, colours and saves in a browser, and compares what the page says with the results. Prints TAP.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Browser, delassus, table } from './browser.mjs';

const record = process.argv.includes('--record'), only = process.argv.slice(2).find((word) => !word.startsWith('--')) || '';
const REFERENCE = `${process.env.DLS_SOURCE_DIR}/tests/viewer/reference`;

// One of each shape, well apart; <script> is a name.
const SHAPES = `delassus: 1
title: One of each
bodies:
  - {name: ground, motion: static, shape: {kind: half-space}}
  - {name: tub, motion: static, position: [1.5, 0, 1], shape: {kind: cylinder-inside, radius: 4, length: 2}}
  - {name: hall, motion: static, position: [1.5, 0, 1], shape: {kind: box-inside, size: [9, 9, 2]}}
  - {name: "<script>alert(1)</script>", position: [0, 0, 0.2], spin: [1, 2, 3], velocity: [0.1, 0.2, 0], shape: {kind: sphere, radius: 0.2}}
  - {name: box, position: [1, 0, 0.2], shape: {kind: box, size: [0.4, 0.4, 0.4]}}
  - {name: capsule, position: [2, 0, 0.2], shape: {kind: capsule, radius: 0.2, length: 0.2}}
  - {name: egg, position: [3, 0, 0.2], shape: {kind: ellipsoid, size: [0.3, 0.25, 0.2]}}
  - {name: can, position: [0.5, 1, 0.2], shape: {kind: cylinder, radius: 0.2, length: 0.4}}
  - {name: stone, position: [1.5, 1, 0], shape: {kind: polyhedron, points: [[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]]}}
  - {name: ramp, motion: static, shape: {kind: mesh, file: ramp.obj}}
  - {name: late, birth: 0.05, position: [2, 1, 1], shape: {kind: sphere, radius: 0.1}}
time: {step: 0.01, until: 0.1}
output: {interval: 0.01}
`;
// The same in the plane, solved too briefly.
const FLAT = `delassus: 1
title: Flat
dimension: 2
bodies:
  - {name: floor, motion: static, shape: {kind: half-plane}}
  - {name: bowl, motion: static, position: [0, 1], shape: {kind: drum, radius: 4}}
  - {name: step, motion: static, shape: {kind: chain, points: [[3, 1], [1, 0.2]]}}
  - layers: {region: {kind: box, low: [-1, 0], high: [1, 4]}, count: 40, size: {uniform: [0.8, 1.2]}, gap: 0.05}
    body: {name: disc, shape: {kind: disc, radius: 0.15}}
  - {name: tile, position: [-1.6, 0.3], shape: {kind: polygon, points: [[-0.3, -0.3], [0.3, -0.3], [0, 0.4]]}}
solver: {max_iterations: 2}
time: {step: 0.01, until: 0.5}
output: {interval: 0.01}
`;

const RAMP = 'v 2.5 1 0.1\nv 3.5 1 0.1\nv 3.5 2 0.4\nv 2.5 2 0.4\nf 1 2 3\nf 1 3 4\n';

function make(name, text, ...options) {
  if (text) writeFileSync(`${name}.yaml`, text);
  else delassus('new', name, '-o', `${name}.yaml`);
  delassus('run', `${name}.yaml`, '-q', ...options);
  delassus('export', `${name}.h5`, '--csv', `${name}.csv`);
  delassus('view', `${name}.h5`);
  return { bodies: table(`${name}.csv/bodies.csv`), contacts: table(`${name}.csv/contacts.csv`), steps: table(`${name}.csv/steps.csv`) };
}

writeFileSync('ramp.obj', RAMP);
const runs = { shapes: make('shapes', SHAPES), flat: make('flat', FLAT), linkage: make('linkage', '', '--until', 0.3) };
const browser = await Browser.open();

/** The number that the page shows of what is picked. */
const shown = async (page, name) => parseFloat(await page.locator(`#picked-rows td[data-name="${name}"]`).textContent());
const near = (value, wanted, error, what) => assert.ok(Math.abs(value - wanted) <= error, `${what}: ${value}, expected ${wanted}`);
const still = (page) => assert.deepEqual(page.complaints, []);

/** What a click in the middle of the scene picks, once the eye follows a body. */
async function clickMiddle(page, across = 0, down = 0) {
  await page.waitForTimeout(120);
  const box = await page.locator('#scene').boundingBox();
  await page.locator('#unpick').click();
  await page.mouse.click(box.x + box.width / 2 + across, box.y + box.height / 2 + down);
  return page.locator('#picked-name').textContent();
}

async function compare(page, name) {
  const picture = await browser.picture(page), path = `${REFERENCE}/${name}.png`;
  if (record) return writeFileSync(path, picture);
  assert.ok(existsSync(path), `no reference ${path}: tests/viewer/run --record takes it`);
  const { difference } = await browser.judge(readFileSync(path), picture);
  assert.ok(difference < 0.5, `${name} differs by ${difference} from its reference`);
}

const tests = {
  async 'planar runs look as they did'() {
    const page = await browser.page('flat.html', '#frame=50&chains=1');
    await compare(page, 'flat');
    still(page);
  },
  async 'runs in space look as they did'() {
    const page = await browser.page('shapes.html', '#frame=10');
    await compare(page, 'shapes');
    still(page);
  },
  async 'places and speeds of bodies are those of the results'() {
    for (const [name, run] of Object.entries(runs)) {
      const last = Math.max(...run.bodies.map((row) => Number(row.frame))), rows = run.bodies.filter((row) => Number(row.frame) === last);
      for (const row of rows.slice(-3)) {
        const page = await browser.page(`${name}.html`, `#frame=${last}&pick=body:${row.body}`);
        assert.equal(await page.locator('#picked-name').textContent(), row.name || `body ${row.body}`);
        for (const axis of ['x', 'y', 'z']) near(await shown(page, axis), Number(row[axis]), 2e-3 * Math.max(1, Math.abs(row[axis])), `${row.name} ${axis}`);
        near(await shown(page, 'speed'), Math.hypot(row.vx, row.vy, row.vz), 5e-3, `${row.name} speed`);
        near(await shown(page, 'spin'), Math.hypot(row.wx, row.wy, row.wz), 1e-2, `${row.name} spin`);
        still(page);
        await page.close();
      }
    }
  },
  async 'a click picks the body that is seen there'() {
    const page = await browser.page('shapes.html', '#frame=3');
    await page.locator('#follow').check();
    for (const name of ['<script>alert(1)</script>', 'box', 'capsule', 'egg', 'can', 'stone']) {
      const body = runs.shapes.bodies.find((row) => row.name === name).body;
      await page.goto(`file://${process.cwd()}/shapes.html#frame=3&pick=body:${body}&camera=0,0,0,4,-1.2,0.6`);
      await page.locator('#picked-name', { hasText: name }).waitFor();
      assert.equal(await clickMiddle(page), name);
    }
    still(page);
  },
  async 'discs are turned as in the results'() {
    for (const row of runs.flat.bodies.filter((r) => r.frame === '50' && r.name.startsWith('disc')).slice(5, 9)) {
      const page = await browser.page('flat.html', `#frame=50&camera=${row.x},${row.y},0,0.6,0,0&colour=size`);
      const angle = 2 * Math.atan2(row.qz, row.qw), at = (r, turn) => [r * Math.cos(angle + turn), -r * Math.sin(angle + turn)];
      const beside = [-2, -1, 0, 1, 2].map((k) => at(60, k / 60)); // a spoke is thin, and places are rounded
      const [left, back, right, ...over] = await browser.colours(await browser.picture(page), [at(60, 1.57), at(60, 3.14), at(60, -1.57), ...beside]);
      const spoke = over.reduce((a, b) => (a[1] < b[1] ? a : b));
      for (const other of [left, back, right]) assert.ok(spoke[1] < 0.6 * other[1], `${row.name}: ${spoke} ${other}`);
      still(page);
      await page.close();
    }
  },
  async 'colours follow the measure'() {
    const rows = runs.flat.bodies.filter((r) => r.frame === '50' && r.name.startsWith('disc')), speed = (r) => Math.hypot(r.vx, r.vy, r.vz);
    rows.sort((a, b) => speed(a) - speed(b));
    const seen = [];
    for (const row of [rows[0], rows[rows.length - 1]]) {
      const page = await browser.page('flat.html', `#frame=50&camera=${row.x},${row.y},0,0.6,0,0`);
      await page.locator('#per-frame').check();
      const angle = 2 * Math.atan2(row.qz, row.qw);
      seen.push(...await browser.colours(await browser.picture(page), [[-40 * Math.cos(angle), 40 * Math.sin(angle)]]));
      await page.close();
    }
    assert.ok(seen[0][2] > seen[0][0] + 30, `slow is blue: ${seen[0]}`);
    near(Math.max(Math.abs(seen[1][0] - 250), Math.abs(seen[1][1] - 227), Math.abs(seen[1][2] - 51)), 0, 3, `fastest is yellow: ${seen[1]}`);
  },
  async 'chains that slip are told apart'() {
    const rows = runs.flat.contacts.filter((r) => r.frame === '50' && Number(r.impulse_n) > 0 && Number(r.body_a) > 3);
    const slips = (r) => Math.hypot(r.impulse_t1, r.impulse_t2) >= 0.999 * r.mu * r.impulse_n;
    const strongest = (list) => list.reduce((a, b) => (Number(a.impulse_n) > Number(b.impulse_n) ? a : b));
    for (const [row, colour] of [[strongest(rows.filter(slips)), [224, 160, 32]], [strongest(rows.filter((r) => !slips(r))), [192, 57, 43]]]) {
      const page = await browser.page('flat.html', `#frame=50&chains=1&camera=${row.x},${row.y},0,0.6,0,0`);
      const [seen] = await browser.colours(await browser.picture(page), [[0, 0]]);
      assert.ok(seen.every((c, k) => Math.abs(c - colour[k]) < 6), `${row.body_a} ${row.body_b}: ${seen}, expected ${colour}`);
      await page.close();
    }
  },
  async 'a body that is not there is not shown'() {
    const late = runs.shapes.bodies.find((row) => row.name === 'late').body;
    const page = await browser.page('shapes.html', `#frame=0&pick=body:${late}`);
    assert.match(await page.locator('#picked-rows').textContent(), /not there/);
    await page.locator('#scene').press('End');
    await page.locator('#picked-rows td[data-name="x"]').waitFor();
    still(page);
  },
  async 'contacts have the forces of the results'() {
    const rows = runs.flat.contacts.filter((row) => row.frame === '50' && Number(row.impulse_n) > 0);
    const strongest = rows.reduce((a, b) => (Number(a.impulse_n) > Number(b.impulse_n) ? a : b));
    const page = await browser.page('flat.html', `#frame=50&chains=1&pick=contact:0:${strongest.body_a}:${strongest.body_b}`);
    near(await shown(page, 'normal force'), strongest.impulse_n / 0.01, 0.045 * strongest.impulse_n / 0.01, 'force');
    near(await shown(page, 'point x'), Number(strongest.x), 0.01, 'x');
    near(await shown(page, 'point y'), Number(strongest.y), 0.01, 'y');
    still(page);
  },
  async 'chains are seen, and a click on one picks it'() {
    const page = await browser.page('flat.html', '#frame=50'), bare = await browser.picture(page);
    await page.locator('#chains').check();
    const drawn = await browser.picture(page), red = (await browser.judge(bare, drawn, [192, 57, 43])).near + (await browser.judge(bare, drawn, [224, 160, 32])).near;
    assert.ok(red > 200, `${red} pixels of chains`);
    assert.ok(await page.locator('#legend-chains').isVisible());
    await page.locator('#follow').check();
    const ball = runs.flat.contacts.filter((row) => row.frame === '50' && Number(row.impulse_n) > 0)
      .filter((row) => Number(row.body_a) > 3).reduce((a, b) => (Number(a.impulse_n) > Number(b.impulse_n) ? a : b));
    await page.goto(`file://${process.cwd()}/flat.html#frame=50&chains=1&pick=body:${ball.body_b}`);
    await page.locator('#picked').waitFor();
    const place = (id) => runs.flat.bodies.find((row) => row.frame === '50' && row.body === id), from = place(ball.body_b), to = place(ball.body_a);
    const apart = Math.hypot(to.x - from.x, to.y - from.y);
    assert.match(await clickMiddle(page, 4 * (to.x - from.x) / apart, -4 * (to.y - from.y) / apart), /^contact of /);
    still(page);
  },
  async 'every frame says what it is'() {
    const page = await browser.page('flat.html');
    assert.match(await page.locator('#certificate').textContent(), /initial state/);
    const missed = runs.flat.steps.filter((row) => row.certified === '0');
    assert.ok(missed.length > 3);
    assert.match(await page.locator('#facts').textContent(), new RegExp(`${missed.length} of them NOT certified`));
    for (const step of [missed[0], runs.flat.steps.find((row) => row.certified === '1')]) {
      await page.goto(`file://${process.cwd()}/flat.html#frame=${step.step}`);
      await page.locator('#time', { hasText: `step ${step.step},` }).waitFor();
      const verdict = await page.locator('#certificate').textContent();
      assert.match(verdict, step.certified === '0' ? /^NOT certified/ : /^certified/);
      assert.equal(await page.locator('#certificate').getAttribute('class'), step.certified === '0' ? 'bad' : 'good');
      near(parseFloat(verdict.split('residual ')[1]), Number(step.residual), 1e-2 * Number(step.residual), 'residual');
      assert.match(verdict, new RegExp(`${step.contacts} contacts, ${step.iterations} iterations`));
    }
    const axis = await page.locator('#curve').boundingBox(), ink = await page.locator('#curve').screenshot();
    const head = (step) => [64 + step / 50 * (axis.width - 76) - axis.width / 2, 0];
    const shownStep = Number((await page.locator('#time').textContent()).match(/step (\d+)/)[1]);
    const [on, off] = await browser.colours(ink, [head(shownStep), head(shownStep > 25 ? 12 : 40)]);
    assert.ok(on[0] < 90 && off[0] > 200, `the playhead stands at its time: ${on} ${off}`);
    const strip = await page.locator('#strip').screenshot();
    assert.ok((await browser.judge(strip, strip, [198, 40, 40])).near > 20, 'steps are marked on the axis of time');
    still(page);
  },
  async 'it plays to its end, steps and scrubs'() {
    const page = await browser.page('flat.html');
    await page.locator('#forward').click();
    await page.locator('#time', { hasText: 'frame 1' }).waitFor();
    await page.locator('#frame').fill('20');
    await page.locator('#time', { hasText: 'frame 20' }).waitFor();
    await page.locator('#scene').press('ArrowLeft');
    await page.locator('#time', { hasText: 'frame 19' }).waitFor();
    const curve = await page.locator('#curve').boundingBox();
    await page.mouse.click(curve.x + 64 + 0.605 * (curve.width - 76), curve.y + 50);
    await page.locator('#time', { hasText: 'frame 30' }).waitFor();
    await page.locator('#speed').selectOption('4');
    await page.locator('#scene').press(' ');
    await page.locator('#time', { hasText: 'frame 50' }).waitFor();
    await page.locator('#play[aria-label="Play"]').waitFor();
    assert.match(await page.locator('#scene').getAttribute('aria-label'), /Flat: \d+ bodies, t = 0.5 s, step 50/);
    still(page);
  },
  async 'colours, views, cuts, trails and themes change what is seen'() {
    const page = await browser.page('shapes.html', '#frame=10');
    let before = await browser.picture(page);
    const differs = async (what, act) => {
      await act();
      const now = await browser.picture(page), { difference } = await browser.judge(before, now);
      assert.ok(difference > 0.003, `${what} changes nothing: ${difference}`);
      before = now;
    };
    for (const name of ['spin', 'energy', 'size', 'id', 'coordination']) await differs(name, () => page.locator('#colour').selectOption(name));
    assert.match(await page.locator('#legend-name').textContent(), /contacts with a force/);
    await differs('speed', () => page.locator('#colour').selectOption('speed'));
    assert.match(await page.locator('#legend-name').textContent(), /speed, m\/s/);
    await differs('scale of the frame', () => page.locator('#per-frame').check());
    for (const name of ['front', 'side', 'top', 'iso']) await differs(name, () => page.locator(`[data-view=${name}]`).click());
    await differs('normals', () => page.locator('#normals').check());
    await differs('cut', () => page.locator('#clip-axis').selectOption('x'));
    await differs('zoom', () => page.locator('#scene').press('+'));
    await differs('theme', () => page.locator('#theme').click());
    const box = await page.locator('#scene').boundingBox();
    await differs('drag', async () => {
      await page.mouse.move(box.x + 300, box.y + 200);
      await page.mouse.down();
      await page.mouse.move(box.x + 420, box.y + 220, { steps: 3 });
      await page.mouse.up();
    });
    await differs('wheel', () => page.mouse.wheel(0, 400));
    still(page);
  },
  async 'a trail shows the way of what is picked'() {
    const page = await browser.page('flat.html', '#frame=40&pick=body:40'), before = await browser.picture(page);
    await page.locator('#trails').check();
    assert.ok((await browser.judge(before, await browser.picture(page), [122, 134, 154])).near > 30);
    still(page);
  },
  async 'joints are seen, picked and told'() {
    const page = await browser.page('linkage.html', '#frame=20&pick=joint:1');
    assert.match(await page.locator('#picked-rows').textContent(), /kind/);
    near(await shown(page, 'gap'), 0, 1e-4, 'gap');
    await page.locator('#plot').selectOption('picked: force');
    const picture = await browser.picture(page);
    assert.ok((await browser.judge(picture, picture, [47, 123, 217])).near > 60, 'marks of joints');
    await compare(page, 'linkage');
    await page.locator('#joints').uncheck();
    assert.ok((await browser.judge(picture, await browser.picture(page), [47, 123, 217])).near === 0);
    still(page);
  },
  async 'a picture and a film are saved'() {
    const page = await browser.page('shapes.html', '#frame=4');
    const saved = async (id) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.locator(id).click()]);
      return readFileSync(await download.path());
    };
    const picture = await saved('#png'), scene = await browser.picture(page);
    const { size, difference } = await browser.judge(scene, picture);
    assert.ok(size[0] > 800 && difference < 6, `${size} ${difference}`);
    const film = await saved('#webm');
    assert.equal(film.subarray(0, 4).toString('hex'), '1a45dfa3');
    assert.ok(film.length > 1999, `${film.length} bytes of film`);
    await page.locator('#time', { hasText: 'frame 4' }).waitFor();
    still(page);
  },
  async 'a link brings back frame, eye, colour and pick'() {
    const page = await browser.page('flat.html', '#frame=33&pick=body:7');
    await page.locator('#colour').selectOption('spin');
    await page.locator('#scene').press('+');
    await page.locator('#scene').press('l');
    const link = new URL(page.url()).hash, before = await browser.picture(page);
    assert.match(link, /frame=33.*pick=body/);
    const again = await browser.page('flat.html', link);
    const { difference } = await browser.judge(before, await browser.picture(again));
    assert.ok(difference < 0.05, `${difference}`);
    assert.equal(await again.locator('#picked-name').textContent(), await page.locator('#picked-name').textContent());
    const wild = await browser.page('flat.html', '#frame=1e9&pick=body:99999&camera=a,b&colour=none&%E0%A4%A=1');
    await wild.locator('#time', { hasText: 'frame 50' }).waitFor();
    still(wild);
    still(again);
  },
  async 'the page states its errors'() {
    const page = await browser.page('shapes.html');
    await page.locator('#notes summary').click();
    assert.match(await page.locator('#notes-list').textContent(), /true to .* m, 0.5 % of the smallest radius/);
    still(page);
  },
  async 'touch turns and zooms'() {
    const page = await browser.page('shapes.html', '#frame=10'), before = await browser.picture(page);
    const tools = await browser.context.newCDPSession(page), box = await page.locator('#scene').boundingBox();
    const touch = (type, ...points) => tools.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x: box.x + x, y: box.y + y, id })) });
    await touch('touchStart', [300, 200], [500, 200]);
    await touch('touchMove', [250, 200], [550, 200]);
    await touch('touchEnd');
    assert.ok((await browser.judge(before, await browser.picture(page))).difference > 0.5);
    still(page);
  },
  async 'without WebGL2 a sentence is there'() {
    const page = await browser.page('flat.html', '', (p) => p.addInitScript(() => {
      const get = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return kind === 'webgl2' ? null : get.call(this, kind, ...rest); };
    }));
    assert.match(await page.locator('#problem').textContent(), /no WebGL2/);
    assert.ok(await page.locator('#main').isHidden());
  },
  async 'a page that was damaged says so'() {
    const text = readFileSync('flat.html', 'utf8');
    writeFileSync('cut.html', text.replace(/(id="states0">)([^<]*)/, (_, head, data) => head + data.slice(0, 400)));
    const page = await browser.page('cut.html');
    assert.match(await page.locator('#problem').textContent(), /cannot be shown/);
  },
};

let number = 0, failed = 0;
const chosen = Object.entries(tests).filter(([name]) => name.includes(only));
console.log(`1..${chosen.length}`);
for (const [name, test] of chosen) {
  try {
    await test();
    console.log(`ok ${++number} - ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${++number} - ${name}\n${String(error.stack || error).split('\n').map((line) => `# ${line}`).join('\n')}`);
  }
  for (const page of browser.context.pages()) if (page !== browser.desk) await page.close();
}
await browser.close();
process.exitCode = failed ? 1 : 0;
