// What is picked: its numbers in this frame, and their course over the run.

/** @typedef {{kind: string, id: number, pair?: number[]}} Picked */

/** @param {Run} run @param {number} body */
const bodyName = (run, body) => (body < 0 ? 'the ground' : run.scene.bodies[body].name || `body ${body}`);

/** A contact is the same while its bodies are. @param {Run} run @param {Block} block @param {number} row @param {Picked} pick */
function findContact(run, block, row, pick) {
  const list = block.chains[row], pair = pick.pair || [-1, -1];
  if (!list) return -1;
  for (let k = 0; k < list.count; k++) if (list.a[k] === pair[0] && list.b[k] === pair[1]) return k;
  return -1;
}

/** Rows of text: what, value. @param {Run} run @param {Block} block @param {number} row @param {Picked} pick @returns {string[][]} */
function pickedRows(run, block, row, pick) {
  if (pick.kind === 'body') return bodyRows(run, block, row, pick.id);
  if (pick.kind === 'joint') return jointRows(run, block, row, pick.id);
  const k = findContact(run, block, row, pick), list = block.chains[row];
  if (k < 0) return [['force', 'none in this frame']];
  const ends = contactEnds(run, block, row, list, k, [0, 0, 0]);
  return [['normal force', `${quantity(run.force(block, list, k), 'N')} ± 4.4 %`], ['state', list.slip[k] ? 'slips' : 'sticks'],
    ...['x', 'y', 'z'].map((axis, i) => [`point ${axis}`, quantity(ends.point[i], 'm')]),
    ...['x', 'y', 'z'].map((axis, i) => [`normal ${axis}`, quantity(ends.normal[i])])];
}

/** @param {Run} run @param {Block} block @param {number} row @param {number} id */
function bodyRows(run, block, row, id) {
  const body = run.scene.bodies[id], x = run.place(block, row, id);
  const rows = [['kind', body.shapes.map((s) => s.kind).join(', ') || 'no shape'], ['motion', body.motion || 'dynamic']];
  if (!run.isThere(block, row, id)) return [...rows, ['state', 'not there in this frame']];
  if (body.mass !== undefined) rows.push(['mass', quantity(body.mass, 'kg')]);
  rows.push(...['x', 'y', 'z'].map((axis, k) => [axis, quantity(x[k], 'm')]));
  rows.push(['speed', quantity(run.speed(block, row, id), 'm/s')], ['spin', quantity(run.spin(block, row, id), 'rad/s')]);
  const material = body.shapes.length ? run.scene.materials[body.shapes[0].material || 0] : '';
  if (material) rows.push(['material', material]);
  if (run.scene.chains) {
    const list = block.chains[row];
    let touching = 0;
    for (let k = 0; list && k < list.count; k++) touching += Number(list.a[k] === id || list.b[k] === id);
    rows.push(['contacts with a force', String(touching)]);
  }
  return rows;
}

/** @param {Run} run @param {Block} block @param {number} row @param {number} id */
function jointRows(run, block, row, id) {
  const joint = run.scene.joints[id], value = (/** @type {number} */ c) => run.joint(block, row, id, c);
  const rows = [['kind', joint.kind], ['bodies', `${bodyName(run, joint.a)}, ${bodyName(run, joint.b)}`]];
  if (!value(0)) return [...rows, ['state', 'does not act in this frame']];
  return [...rows, ['force', quantity(value(1), 'N')], ['torque', quantity(value(2), 'N m')], ['gap', quantity(value(3))],
    ['coordinate', quantity(value(4))], ['its speed', quantity(value(5))]];
}

/** @param {Run} run @param {Picked} pick */
function pickedName(run, pick) {
  if (pick.kind === 'body') return bodyName(run, pick.id);
  if (pick.kind === 'joint') return run.scene.joints[pick.id].name || `joint ${pick.id}`;
  const [a, b] = pick.pair || [-1, -1];
  return `contact of ${bodyName(run, a)} and ${bodyName(run, b)}`;
}

/** Curves of what is picked over all frames. @param {Run} run @param {Picked} pick @returns {Promise<Record<string, Plot>>} */
async function pickedPlots(run, pick) {
  const times = run.scene.frames.map((f) => f[2] || 0), series = Array.from({ length: 5 }, () => new Float64Array(times.length));
  await run.eachFrame((block, row, frame) => {
    const put = (/** @type {number[]} */ values) => values.forEach((v, k) => { series[k][frame] = v; });
    if (pick.kind === 'body')
      put(run.isThere(block, row, pick.id) ? [...run.place(block, row, pick.id), run.speed(block, row, pick.id), run.spin(block, row, pick.id)] : [NaN, NaN, NaN, NaN, NaN]);
    else if (pick.kind === 'joint') put([1, 2, 3, 4, 5].map((c) => (run.joint(block, row, pick.id, 0) ? run.joint(block, row, pick.id, c) : NaN)));
    else {
      const k = findContact(run, block, row, pick);
      put([k < 0 ? 0 : run.force(block, block.chains[row], k)]);
    }
  });
  const plot = (/** @type {string} */ title, /** @type {string} */ unitName, /** @type {[string, number][]} */ parts) =>
    ({ title: `${pickedName(run, pick)}: ${title}`, unit: unitName, logarithmic: false,
      curves: parts.map(([name, k], i) => ({ name, x: times, y: series[k], colour: INKS[i] })) });
  if (pick.kind === 'body')
    return { 'picked: place': plot('place', 'm', [['x', 0], ['y', 1], ['z', 2]]), 'picked: speed': plot('speed', 'm/s', [['speed', 3]]),
      'picked: spin': plot('spin', 'rad/s', [['spin', 4]]) };
  if (pick.kind === 'joint')
    return { 'picked: force': plot('force', 'N', [['force', 0]]), 'picked: torque': plot('torque', 'N m', [['torque', 1]]),
      'picked: coordinate': plot('coordinate', 'm or rad', [['coordinate', 3]]) };
  return { 'picked: force': plot('normal force', 'N', [['normal force', 0]]) };
}
