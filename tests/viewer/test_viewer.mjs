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

// Bodies that deform in space: by one F each, and of elements, one of which is born late.
const SOFT = `delassus: 1
title: Soft
materials:
  soft: {density: 1000, young: 2e4, poisson: 0.3, damping: 5e-3, mu: 0.5, law: neo-hookean}
  rubber: {density: 1000, young: 4e4, poisson: 0.3, damping: 5e-3, mu: 0.5}
bodies:
  - {name: floor, motion: static, shape: {kind: half-space}}
  - {name: brick, material: soft, position: [0, 0, 0.2], rotation: {axis: [1, 2, 0], angle: 0.7}, velocity: [0, 0, -1],
     solid: {kind: pseudo-rigid}, shape: {kind: box, size: [0.2, 0.3, 0.2]}}
  - {name: egg, material: soft, position: [0.6, 0, 0.12], velocity: [0.5, 0, -2], spin: [0, 9, 0],
     solid: {kind: pseudo-rigid}, shape: {kind: sphere, radius: 0.1}}
  - {name: cube, material: rubber, position: [-0.6, 0, 0.2], rotation: {axis: [1, 2, 0], angle: 0.35}, velocity: [0.5, 0, -1],
     solid: {kind: elements, form: corotational, cells: [3, 3, 3]}, shape: {kind: box, size: [0.2, 0.2, 0.2]}}
  - {name: late, material: rubber, birth: 0.1, position: [-0.6, 0.5, 0.15],
     solid: {kind: elements, form: corotational, cells: [2, 2, 2]}, shape: {kind: sphere, radius: 0.1}}
joints:
  - {name: tether, kind: distance, length: 0.8, rope: true, bodies: [ground, cube], at: [-0.6, 0, 0.2]}
time: {step: 1e-3, until: 0.2}
output: {interval: 0.01}
`;
// A beam that carries a weight and comes down on a block.
const BOARD = `delassus: 1
title: Springboard
dimension: 2
bodies:
  - {name: block, motion: static, position: [0.95, -0.25], shape: {kind: polygon, points: [[-0.1, -0.05], [0.1, -0.05], [0.1, 0.05], [-0.1, 0.05]]}}
  - {name: board, solid: {kind: beam, length: 1, EA: 1e5, EI: 1, line_density: 1, damping: 1e-3}, shapes: [{kind: point, end: 1},
     {kind: disc, radius: 0.03, position: [0, -0.05], end: 0.25}, {kind: polygon, points: [[-0.05, 0], [0.05, 0], [0.05, 0.04], [-0.05, 0.08]], end: 0.75}]}
  - {name: weight, position: [0.5, 0], mass: 0.2, inertia: 1e-4}
joints:
  - {kind: fixed, bodies: [ground, {body: board, end: 0}]}
  - {kind: revolute, bodies: [weight, {body: board, end: 0.5}]}
time: {step: 1e-3, until: 0.4}
output: {interval: 0.02}
`;

// A pen of solid boxes with a ball that goes round in it.
const wall = (name, x, y, along, across) => `  - {name: ${name}, motion: static, position: [${x}, ${y}, 0.25], shape: {kind: box, size: [${along}, ${across}, 0.7]}}\n`;
const PEN = `delassus: 1
title: Pen
materials: {steel: {mu: 0, e_n: 1}, oak: {mu: 0}}
bodies:
  - {name: floor, motion: static, position: [0, 0, -0.05], shape: {kind: box, size: [1.2, 1.2, 0.1], material: oak}}
${wall('left', -0.55, 0, 0.1, 1.2)}${wall('right', 0.55, 0, 0.1, 1.2)}${wall('back', 0, 0.55, 1.2, 0.1)}${wall('front', 0, -0.55, 1.2, 0.1)}  - {name: block, motion: static, position: [0.3, 0.3, 0.1], shape: {kind: box, size: [0.1, 0.1, 0.2]}}
  - {name: ball, position: [0, 0, 0.1], velocity: [0.7, 0.4, 0], shape: {kind: sphere, radius: 0.1, material: steel}}
time: {step: 0.01, until: 0.9}
output: {interval: 0.01}
`;

const RAMP = 'v 2.5 1 0.1\nv 3.5 1 0.1\nv 3.5 2 0.4\nv 2.5 2 0.4\nf 1 2 3\nf 1 3 4\n';

function make(name, text, ...options) {
  if (text) writeFileSync(`${name}.yaml`, text);
  else delassus('new', name, '-o', `${name}.yaml`);
  delassus('run', `${name}.yaml`, '-q', ...options);
  delassus('export', `${name}.h5`, '--csv', `${name}.csv`);
  delassus('view', `${name}.h5`);
  const tables = ['bodies', 'contacts', 'steps', 'joints', 'nodes', 'gradients'].filter((kind) => existsSync(`${name}.csv/${kind}.csv`));
  return Object.fromEntries(tables.map((kind) => [kind, table(`${name}.csv/${kind}.csv`)]));
}

writeFileSync('ramp.obj', RAMP);
const runs = { shapes: make('shapes', SHAPES), flat: make('flat', FLAT), linkage: make('linkage', '', '--until', 0.3), soft: make('soft', SOFT), board: make('board', BOARD), pen: make('pen', PEN) };
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
  async 'bodies that deform look as they did'() {
    for (const [name, hash] of [['soft', '#frame=9&colour=stress'], ['board', '#frame=20']]) {
      const page = await browser.page(`${name}.html`, hash);
      await compare(page, name);
      still(page);
    }
  },
  async 'corners of bodies that deform are seen where the results have them'() {
    const of = (rows, name, frame) => rows.filter((row) => row.frame === String(frame) && row.body === idOf(name));
    const idOf = (name) => runs.soft.bodies.find((row) => row.name === name).body, number = (row, ...names) => names.map((key) => Number(row[key]));
    const brick = (frame) => {
      const [F] = of(runs.soft.gradients, 'brick', frame), c = number(of(runs.soft.bodies, 'brick', frame)[0], 'x', 'y', 'z');
      return [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].map((z) => 'xyz'.split('').map((row, k) =>
        c[k] + 0.1 * x * F[`F${row}x`] + 0.15 * y * F[`F${row}y`] + 0.1 * z * F[`F${row}z`]))));
    };
    const cube = (frame) => of(runs.soft.nodes, 'cube', frame).map((row) => number(row, 'x', 'y', 'z'));
    let strain = 0;
    for (const frame of [0, 5, 9, 20])
      for (const points of [brick(frame), cube(frame)])
        for (const [yaw, across, toRight] of [[-Math.PI / 2, 0, 1], [0, 1, 1]]) { // from the front and from the side
          const high = (p) => p[2] + toRight * p[across], top = points.reduce((a, b) => (high(a) > high(b) ? a : b));
          const page = await browser.page('soft.html', `#frame=${frame}&colour=id&camera=${top},0.5,${yaw},0`);
          const [inside, outside] = await browser.colours(await browser.picture(page), [[-4, 5], [4, -5]]);
          assert.ok(outside.every((c) => c > 250) && inside.some((c) => c < 220), `frame ${frame}, corner ${top}: ${inside} beside ${outside}`);
          await page.close();
        }
    for (const row of runs.soft.gradients) strain = Math.max(strain, Math.abs(Math.hypot(row.Fxz, row.Fyz, row.Fzz) - 1));
    assert.ok(strain > 0.1, `the scene deforms: ${strain}`);
  },
  async 'stresses and volumes are those of the results, and colour the skins'() {
    const cube = runs.soft.nodes.filter((row) => row.frame === '7' && row.body === '3'), worst = cube.reduce((a, b) => (+a.von_mises > +b.von_mises ? a : b));
    const all = Math.max(...runs.soft.nodes.map((row) => +row.von_mises)), page = await browser.page('soft.html', '#frame=7&pick=body:3');
    const text = await page.locator('#picked-rows td[data-name="von Mises stress"]').textContent();
    near(parseFloat(text.replace('up to ', '')), +worst.von_mises, 2e-3 * all, text);
    assert.ok((await page.locator('#plot').textContent()).includes('picked: stress'));
    await page.locator('#colour').selectOption('stress');
    near(parseFloat(await page.locator('#legend-high').textContent()), all, 1e-3 * all, 'scale');
    await page.locator('#unpick').click();
    await page.locator('#per-frame').check(); // the worst node of the cube is the frame's worst, and yellow
    await page.goto(`file://${process.cwd()}/soft.html#frame=7&colour=stress&camera=${worst.x},${worst.y},${worst.z},0.4,-1,-1.2`);
    const [seen] = await browser.colours(await browser.picture(page), [[0, 0]]);
    assert.ok(seen[0] > 1.5 * seen[2] && seen[1] > 1.5 * seen[2], `yellow, as far as it is lit: ${seen}`);
    const volumes = runs.soft.gradients.filter((row) => row.body === '2').map((F) => {
      const [a, b, c] = 'xyz'.split('').map((k) => [+F[`Fx${k}`], +F[`Fy${k}`], +F[`Fz${k}`]]);
      return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    });
    const least = volumes.indexOf(Math.min(...volumes)), egg = await browser.page('soft.html', `#frame=${least}&pick=body:2`);
    near(await shown(egg, 'volume over rest'), volumes[least], 4e-3, 'volume');
    assert.ok(volumes[least] < 0.98, `${volumes}`);
    still(page);
    still(egg);
  },
  async 'a body that deforms is picked by its surface, and is not there before its birth'() {
    for (const name of ['brick', 'egg', 'cube', 'late']) {
      const row = runs.soft.bodies.find((r) => r.name === name && r.frame === '15');
      const page = await browser.page('soft.html', `#frame=15&pick=body:${row.body}&camera=${row.x},${row.y},${row.z},2,-1.2,0.6`);
      assert.equal(await clickMiddle(page, 14, 10), name); // beside the joint's mark
      await page.locator('#clip-axis').selectOption('z');
      still(page);
      await page.close();
    }
    const page = await browser.page('soft.html', '#frame=0&pick=body:4');
    assert.match(await page.locator('#picked-rows').textContent(), /not there/);
    still(page);
  },
  async 'beams bend as in the results, and joints stand on them'() {
    const places = runs.board.nodes.filter((row) => row.frame === '20').map((row) => [+row.x, +row.y]);
    assert.ok(Math.min(...places.map((p) => p[1])) < -0.1, 'the board bends');
    for (const k of [3, 12, 22]) {
      const [x, y] = places[k], along = [places[k + 1][0] - places[k - 1][0], places[k + 1][1] - places[k - 1][1]], size = Math.hypot(...along);
      const page = await browser.page('board.html', `#frame=20&camera=${x},${y},0,0.5,0,0`);
      const beside = (r) => [-r * along[1] / size, -r * along[0] / size], picture = await browser.picture(page);
      const [on, above, below] = await browser.colours(picture, [[0, 0], beside(5), beside(-5)]);
      assert.ok(on.some((c) => c < 100) && above.every((c) => c > 250) && below.every((c) => c > 250), `node ${k}: ${on} between ${above} and ${below}`);
      await page.locator('#scene').click();
      await page.locator('#picked-name', { hasText: 'board' }).waitFor();
      still(page);
      await page.close();
    }
    const joint = runs.board.joints.find((row) => row.frame === '20' && row.joint === '1');
    const page = await browser.page('board.html', `#frame=20&camera=${joint.x},${joint.y},0,0.5,0,0`);
    const [mark] = await browser.colours(await browser.picture(page), [[-2, 1]]); // beside its spoke
    assert.ok(mark[2] > 150 && mark[0] < 90, `a joint's mark: ${mark}`);
    still(page);
  },
  async 'shapes on a beam stand where its places carry them'() {
    const nodes = runs.board.nodes.filter((row) => row.frame === '20');
    const beside = (place, x, y) => { // of the frame of a place, by the nodes about it
      const k = place * (nodes.length - 1), [p, a, b] = [nodes[k], nodes[k - 1], nodes[k + 1]].map((row) => [+row.x, +row.y]);
      const size = Math.hypot(b[0] - a[0], b[1] - a[1]), c = (b[0] - a[0]) / size, s = (b[1] - a[1]) / size;
      return [p[0] + c * x - s * y, p[1] + s * x + c * y];
    };
    assert.ok(Math.abs(beside(0.25, 1, 0)[1] - nodes[0.25 * (nodes.length - 1)].y) > 0.3, 'the board is steep there');
    for (const [place, x, y, away] of [[0.25, 0, -0.08, [0, -1]], [0.25, 0.03, -0.05, [1, 0]], [0.75, -0.05, 0.08, [-0.6, 0.8]], [0.75, 0.05, 0.04, [0.6, 0.8]]]) {
      const rim = beside(place, x, y), out = beside(place, x + away[0], y + away[1]), step = [out[0] - rim[0], rim[1] - out[1]];
      const page = await browser.page('board.html', `#frame=20&colour=id&camera=${rim},0,0.3,0,0`);
      const [inside, outside] = await browser.colours(await browser.picture(page), [-5, 5].map((r) => [r * step[0], r * step[1]]));
      assert.ok(outside.every((c) => c > 250) && inside.some((c) => c < 220), `${place} ${x} ${y}: ${inside} beside ${outside}`);
      await page.close();
    }
    const middle = beside(0.25, 0, -0.05), page = await browser.page('board.html', `#frame=20&pick=body:2&camera=${middle},0,0.5,0,0`);
    assert.equal(await clickMiddle(page), 'board');
    still(page);
  },
  async 'walls of boxes are open toward the eye'() {
    const ball = runs.pen.bodies.find((row) => row.name === 'ball' && row.frame === '3'), camera = `camera=${ball.x},${ball.y},${ball.z},4`;
    for (const [eye, name] of [['-1.57,0.1', 'front'], ['0,0.1', 'right'], ['1.57,0.1', 'back'], ['3.14,0.1', 'left'], ['-1.2,-1.2', 'floor']]) {
      const page = await browser.page('pen.html', `#frame=3&pick=body:0&${camera},${eye}`);
      assert.equal(await clickMiddle(page), 'ball', eye);
      await page.locator('#open').uncheck();
      assert.equal(await clickMiddle(page), name);
      still(page);
      await page.close();
    }
    const page = await browser.page('pen.html', '#frame=3&pick=body:0&camera=0.3,0.3,0.15,4,-2.4,0.5'); // what stands amid is no wall
    assert.equal(await clickMiddle(page), 'block');
    still(page);
  },
  async 'materials go by their names'() {
    const page = await browser.page('pen.html', '#colour=material&pick=body:6');
    const names = await page.locator('#legend-classes').innerText();
    assert.match(names, /default[^]*oak[^]*steel|default[^]*steel[^]*oak/);
    assert.match(await page.locator('#picked-rows').textContent(), /materialsteel/);
    await page.locator('#colour').selectOption('speed');
    assert.equal(await page.locator('#legend-classes').innerText(), '');
    still(page);
  },
  async 'trails and numbers go on from block to block'() {
    const page = await browser.page('pen.html', '#frame=64&pick=body:6&camera=0,0,0,3,-1.57,1.57'), before = await browser.picture(page);
    await page.locator('#trails').check();
    assert.ok((await browser.judge(before, await browser.picture(page), [122, 134, 154])).near > 60);
    const row = runs.pen.bodies.find((r) => r.name === 'ball' && r.frame === '64');
    near(await shown(page, 'x'), +row.x, 1e-3, 'x');
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
    for (const id of ['normals', 'trails', 'per-frame']) await page.locator(`#${id}`).check();
    await page.locator('#clip-axis').selectOption('x');
    await page.locator('#scene').press('l');
    const link = new URL(page.url()).hash, before = await browser.picture(page);
    assert.match(link, /frame=33.*pick=body/);
    const again = await browser.page('flat.html', link);
    const { difference } = await browser.judge(before, await browser.picture(again));
    assert.ok(difference < 0.05, `${difference}`);
    assert.equal(await again.locator('#picked-name').textContent(), await page.locator('#picked-name').textContent());
    for (const id of ['normals', 'trails', 'per-frame']) assert.ok(await again.locator(`#${id}`).isChecked(), id);
    assert.ok(!await again.locator('#chains').isChecked() && await again.locator('#clip-axis').inputValue() === 'x');
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
