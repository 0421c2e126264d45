// What is picked: its numbers in this frame, and their course over the run.

/** @param {Run} run @param {number} body */
const bodyName = (run, body) => (body < 0 ? 'the ground' : run.scene.bodies[body].name || `body ${body}`);

/** A contact is the same while its bodies are. @param {Moment} now @param {Picked} pick */
function findContact(now, pick) {
  const list = now.chains, pair = pick.pair || [-1, -1];
  for (let k = 0; list && k < list.count; k++) if (list.a[k] === pair[0] && list.b[k] === pair[1]) return k;
  return -1;
}

/** @param {string} name @param {Vec} values @param {string} [unitName] */
const alongAxes = (name, values, unitName) => ['x', 'y', 'z'].map((axis, k) => [name + axis, quantity(values[k], unitName)]);

/** Rows of text: what, value. @param {Moment} now @param {Picked} pick */
function pickedRows(now, pick) {
  if (pick.kind === 'body') return bodyRows(now, pick.id);
  if (pick.kind === 'joint') return jointRows(now, pick.id);
  const k = findContact(now, pick), list = now.chains;
  if (k < 0 || !list) return [['force', 'none in this frame']];
  const ends = contactEnds(now, list, k, [0, 0, 0]);
  return [['normal force', `${quantity(now.force(k), 'N')} ± 4.4 %`], ['state', list.slip[k] ? 'slips' : 'sticks'],
    ...alongAxes('point ', ends.point, 'm'), ...alongAxes('normal ', ends.normal)];
}

/** @param {Moment} now @param {number} id */
function bodyRows(now, id) {
  const body = now.scene.bodies[id];
  const rows = [['kind', body.solid === 'line' ? 'beam' : body.shapes.map((s) => s.kind).join(', ') || 'no shape'], ['motion', body.motion || 'dynamic']];
  if (!now.isThere(id)) return [...rows, ['state', 'not there in this frame']];
  if (body.mass !== undefined) rows.push(['mass', quantity(body.mass, 'kg')]);
  rows.push(...alongAxes('', now.place(id), 'm'), ['speed', quantity(now.speed(id), 'm/s')], ['spin', quantity(now.spin(id), 'rad/s')]);
  if (body.solid === 'skin') rows.push(['von Mises stress', `up to ${quantity(now.stress(id), 'Pa')}`]);
  if (body.solid === 'affine') rows.push(['volume over rest', quantity(now.stretch(id))]);
  const material = body.shapes.length ? now.scene.materials[body.shapes[0].material || 0] : '', list = now.chains;
  if (material) rows.push(['material', material]);
  if (now.scene.chains) {
    let touching = 0;
    for (let k = 0; list && k < list.count; k++) touching += Number(list.a[k] === id || list.b[k] === id);
    rows.push(['contacts with a force', String(touching)]);
  }
  return rows;
}

/** @param {Moment} now @param {number} id */
function jointRows(now, id) {
  const joint = now.scene.joints[id], value = (c = 0) => now.joint(id, c);
  const rows = [['kind', joint.kind], ['bodies', `${bodyName(now.run, joint.a)}, ${bodyName(now.run, joint.b)}`]];
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

/** @param {Run} run @param {Picked} pick @returns {PickedCurves} */
function pickedCurves(run, pick) {
  const id = pick.id;
  if (pick.kind === 'joint')
    return { values: (now) => (now.joint(id, 0) ? [1, 2, 4].map((c) => now.joint(id, c)) : []),
      plots: [['force', 'N', [['force', 0]]], ['torque', 'N m', [['torque', 1]]], ['coordinate', 'm or rad', [['coordinate', 2]]]] };
  if (pick.kind === 'contact')
    return { plots: [['force', 'N', [['normal force', 0]]]], values: (now) => {
      const k = findContact(now, pick);
      return [k < 0 ? 0 : now.force(k)];
    } };
  /** @type {PickedCurves['plots']} */
  const plots = [['place', 'm', [['x', 0], ['y', 1], ['z', 2]]], ['speed', 'm/s', [['speed', 3]]], ['spin', 'rad/s', [['spin', 4]]]];
  const solid = run.scene.bodies[id].solid;
  if (solid === 'skin') plots.push(['stress', 'Pa', [['largest von Mises stress', 5]]]);
  if (solid === 'affine') plots.push(['volume', '', [['volume over rest', 5]]]);
  return { plots, values: (now) => (now.isThere(id) ? [...now.place(id), now.speed(id), now.spin(id),
    ...(solid === 'skin' ? [now.stress(id)] : solid === 'affine' ? [now.stretch(id)] : [])] : []) };
}

/** Curves of what is picked over all frames. @param {Run} run @param {Picked} pick */
async function pickedPlots(run, pick) {
  const x = run.scene.frames.map((f) => f[2] || 0), { values, plots } = pickedCurves(run, pick);
  /** @type {number[][]} */
  const rows = [];
  await run.eachFrame((now, frame) => { rows[frame] = values(now); });
  return Object.fromEntries(plots.map(([title, unitName, parts]) => [`picked: ${title}`, {
    title: `${pickedName(run, pick)}: ${title}`, unit: unitName, logarithmic: false,
    curves: parts.map(([name, k], i) => ({ name, x, y: rows.map((row) => row[k] ?? NaN), colour: INKS[i] })) }]));
}
