// Ribbons that change from frame to frame: force chains, normals, joints, trails.

/** A point of a body in the world, from the eye's origin. @param {Run} run @param {Block} block @param {number} row
 * @param {number} body −1: the ground @param {number[]} local @param {number[]} origin in quanta */
function worldPoint(run, block, row, body, local, origin) {
  const start = scale(origin, run.scene.quantum);
  return body < 0 ? subtract(local, start) : add(subtract(run.place(block, row, body), start), rotate(run.turn(block, row, body), local));
}

/** The two ends of a contact's chain, its point and its normal, from the eye's origin: centres of bodies that move, else the point.
 * @param {Run} run @param {Block} block @param {number} row @param {Chains} chains @param {number} k @param {number[]} origin */
function contactEnds(run, block, row, chains, k, origin) {
  const scene = run.scene, a = chains.a[k], b = chains.b[k], image = chains.image[k];
  const start = scale(origin, scene.quantum), shift = [Math.floor(image / 9) - 1, Math.floor(image / 3) % 3 - 1, image % 3 - 1];
  const from = subtract(run.place(block, row, a), start);
  const to = add(subtract(run.place(block, row, b), start), shift.map((s, i) => s * scene.period[i]));
  if (scene.bodies[a].ball && scene.bodies[b].ball) {
    const normal = unit(subtract(to, from)), ra = scene.bodies[a].reach, rb = scene.bodies[b].reach;
    return { from, to, normal, point: add(from, scale(subtract(to, from), ra / (ra + rb))) };
  }
  const p = chains.place.subarray(PLACE_PARTS * k, PLACE_PARTS * k + PLACE_PARTS), moves = !scene.bodies[a].motion;
  const reach = scene.bodies[moves ? a : b].reach, base = moves ? from : subtract(run.place(block, row, b), start);
  const point = add(base, scale(p, reach / 84)), normal = unfold(p[3], p[4]);
  return { from: moves ? from : point, to: scene.bodies[b].motion ? point : moves ? to : base, normal, point };
}

/** @param {Table} table @param {ArrayLike<number>} a @param {ArrayLike<number>} b @param {number} width @param {number} colour @param {number} kind @param {number} id */
function addRibbon(table, a, b, width, colour, kind, id) {
  table.add(a[0], a[1], a[2], -1, b[0], b[1], b[2], -1, width, colour, kind, id);
}

/** Half widths grow as the root of the force: the largest of the run is half as wide as the smallest body.
 * @param {Run} run @param {Block} block @param {number} row @param {Table} table @param {number[]} origin @param {boolean} chains @param {boolean} normals */
function addChains(run, block, row, table, origin, chains, normals) {
  const list = block.chains[row], top = Math.max(...run.scene.blocks.map((b) => b.force)), widest = 0.5 * run.scene.smallest;
  if (!list || !(chains || normals)) return;
  for (let k = 0; k < list.count; k++) {
    const ends = contactEnds(run, block, row, list, k, origin), force = run.force(block, list, k);
    const width = widest * Math.sqrt(force / top);
    if (chains) addRibbon(table, ends.from, ends.to, width, list.slip[k] ? SLIP : STICK, NAMES.contact, k);
    if (normals) addRibbon(table, ends.point, add(ends.point, scale(ends.normal, run.scene.smallest)), -1, 0x2f7bd9, NAMES.contact, k);
  }
}

/** A joint's marks, bars from the mass centres to it, and its axis 1 as far as it has one.
 * @param {Run} run @param {Block} block @param {number} row @param {Table} table @param {Table} marks @param {number[]} origin */
function addJoints(run, block, row, table, marks, origin) {
  const axial = ['revolute', 'prismatic', 'cylindrical', 'point-on-line', 'gear', 'rack', 'rolling', 'universal'];
  run.scene.joints.forEach((joint, id) => {
    if (!run.joint(block, row, id, 0)) return;
    const pa = worldPoint(run, block, row, joint.a, joint.xa, origin), pb = worldPoint(run, block, row, joint.b, joint.xb, origin);
    for (const [body, p] of /** @type {[number, number[]][]} */ ([[joint.a, pa], [joint.b, pb]]))
      if (body >= 0 && !run.scene.bodies[body].motion)
        addRibbon(table, worldPoint(run, block, row, body, [0, 0, 0], origin), p, -1.2, 0x7a869a, NAMES.joint, id);
    if (norm(subtract(pb, pa)) > 0) addRibbon(table, pa, pb, -1.5, 0x2f7bd9, NAMES.joint, id);
    if (axial.includes(joint.kind) && run.scene.dimension === 3) {
      const q = joint.a < 0 ? [1, 0, 0, 0] : run.turn(block, row, joint.a), axis = rotate(q, rotate(joint.qa, [run.scene.smallest, 0, 0]));
      addRibbon(table, subtract(pa, axis), add(pa, axis), -1, 0x2f7bd9, NAMES.joint, id);
    }
    marks.add(...pb, -5, -1, NAMES.joint, id, 0x2f7bd9);
  });
}

/** @param {number[][]} path in the world @param {Run} run @param {Table} table @param {number[]} origin @param {number} colour */
function addTrail(path, run, table, origin, colour) {
  const start = scale(origin, run.scene.quantum);
  for (let k = 0; k + 1 < path.length; k++) addRibbon(table, subtract(path[k], start), subtract(path[k + 1], start), -0.8, colour, 0, 0);
}
