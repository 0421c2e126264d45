// Ribbons that change from frame to frame: force chains, normals, joints, trails.

/** A point of a body in the world, from the eye's origin. @type {WorldPoint} */
function worldPoint(now, body, local, origin) {
  const start = scale(origin, now.scene.quantum);
  return subtract(body < 0 ? local : add(now.place(body), rotate(now.turn(body), local)), start);
}

/** The two ends of a contact's chain, its point and its normal, from the eye's origin: centres of bodies that move, else the point.
 * @type {ContactEnds} */
function contactEnds(now, chains, k, origin) {
  const scene = now.scene, a = chains.a[k], b = chains.b[k], image = chains.image[k];
  const start = scale(origin, scene.quantum), shift = [Math.floor(image / 9) - 1, Math.floor(image / 3) % 3 - 1, image % 3 - 1];
  const from = subtract(now.place(a), start), unmoved = subtract(now.place(b), start);
  const to = add(unmoved, shift.map((s, i) => s * scene.period[i]));
  if (scene.bodies[a].ball && scene.bodies[b].ball) {
    const normal = unit(subtract(to, from)), ra = scene.bodies[a].reach, rb = scene.bodies[b].reach;
    return { from, to, normal, point: add(from, scale(subtract(to, from), ra / (ra + rb))) };
  }
  const p = chains.place.subarray(PLACE_PARTS * k, PLACE_PARTS * k + PLACE_PARTS), moves = !scene.bodies[a].motion;
  const point = add(moves ? from : unmoved, scale(p, scene.bodies[moves ? a : b].reach / 84)), normal = unfold(p[3], p[4]);
  return { from: moves ? from : point, to: scene.bodies[b].motion ? point : moves ? to : unmoved, normal, point };
}

/** @type {AddRibbon} */
function addRibbon(table, a, b, width, colour, kind, id) {
  table.add(a[0], a[1], a[2], -1, b[0], b[1], b[2], -1, width, colour, kind, id);
}

/** Half widths grow as the root of the force: the largest of the run is half as wide as the smallest body. @type {AddChains} */
function addChains(now, table, origin, chains, normals) {
  const list = now.chains, top = now.run.top('force'), smallest = now.scene.smallest;
  if (!list || !(chains || normals)) return;
  for (let k = 0; k < list.count; k++) {
    const ends = contactEnds(now, list, k, origin), width = 0.5 * smallest * Math.sqrt(now.force(k) / top);
    if (chains) addRibbon(table, ends.from, ends.to, width, list.slip[k] ? SLIP : STICK, NAMES.contact, k);
    if (normals) addRibbon(table, ends.point, add(ends.point, scale(ends.normal, smallest)), -1, 0x2f7bd9, NAMES.contact, k);
  }
}

/** Where a joint holds its two bodies. Places on bodies that deform are told with the frame, and in the first one those of the
 * other end, which is held together with it. @type {JointEnds} */
function jointEnds(now, id, origin) {
  const joint = now.scene.joints[id], ends = [worldPoint(now, joint.a, joint.xa, origin), worldPoint(now, joint.b, joint.xb, origin)];
  const deforms = [joint.a, joint.b].map((body) => body >= 0 && now.scene.bodies[body].solid);
  const told = worldPoint(now, -1, [6, 7, 8].map((c) => now.joint(id, c)), origin), isTold = now.facts[1] !== 0;
  return ends.map((p, k) => (deforms[k] ? (isTold ? told : deforms[1 - k] ? p : ends[1 - k]) : p));
}

/** A joint's marks, bars from the mass centres to it, and its axis 1 as far as it has one. @type {AddJoints} */
function addJoints(now, table, marks, origin) {
  const axial = ['revolute', 'prismatic', 'cylindrical', 'point-on-line', 'gear', 'rack', 'rolling', 'rolling-ball', 'universal'];
  now.scene.joints.forEach((joint, id) => {
    if (!now.joint(id, 0)) return;
    const [pa, pb] = jointEnds(now, id, origin);
    [joint.a, joint.b].forEach((body, k) => {
      if (body >= 0 && !now.scene.bodies[body].motion && !now.scene.bodies[body].solid)
        addRibbon(table, worldPoint(now, body, [0, 0, 0], origin), k ? pb : pa, -1.2, 0x7a869a, NAMES.joint, id);
    });
    if (norm(subtract(pb, pa)) > 0) addRibbon(table, pa, pb, -1.5, 0x2f7bd9, NAMES.joint, id);
    if (axial.includes(joint.kind) && now.scene.dimension === 3) {
      const q = joint.a < 0 ? [1, 0, 0, 0] : now.turn(joint.a), axis = rotate(q, rotate(joint.qa, [now.scene.smallest, 0, 0]));
      addRibbon(table, subtract(pa, axis), add(pa, axis), -1, 0x2f7bd9, NAMES.joint, id);
    }
    marks.add(...pb, -5, -1, NAMES.joint, id, 0x2f7bd9);
  });
}

/** @type {AddTrail} */
function addTrail(path, run, table, origin, colour) {
  const start = scale(origin, run.scene.quantum);
  for (let k = 0; k + 1 < path.length; k++) addRibbon(table, subtract(path[k], start), subtract(path[k + 1], start), -0.8, colour, 0, 0);
}
