// Surfaces of shapes: balls by centre and radius, planar outlines as segments, all else as triangles.

/** @param {number[]} list */
const triples = (list) => list.flatMap((_, k) => (k % 3 ? [] : [list.slice(k, k + 3)]));

/** What the shapes of all bodies are drawn from; all in the frames of their bodies, about the mass centres. */
class Surfaces {
  constructor() {
    /** @type {number[]} x, y, z, radius, body */
    this.balls = [];
    /** @type {number[]} two points and the body */
    this.segments = [];
    /** @type {number[]} */
    this.points = [];
    /** @type {number[]} */
    this.normals = [];
    /** @type {number[]} */
    this.owners = [];
    /** @type {number[]} of each corner: −1, or which point it is, or −2 less the first of the three that its body deforms by */
    this.nodes = [];
    /** @type {Wall[]} */
    this.walls = [];
  }

  /** Whether all places lie on one side of the convex shape that begins at a corner, which is half as large as they or larger.
   * @param {number} first @param {number} body @param {number[][]} inside in the body's axes */
  addWall(first, body, inside) {
    const corners = triples(this.points.slice(3 * first)), normals = triples(this.normals.slice(3 * first));
    const size = (/** @type {number[][]} */ set) => set.reduce((most, p) => Math.max(most, norm(subtract(p, set[0]))), 0);
    const shuts = normals.findIndex((n) => {
      const inner = corners.reduce((low, p) => Math.min(low, dot(n, p)), Infinity);
      return inside.every((p) => dot(n, p) < inner);
    });
    if (shuts >= 0 && inside.length && size(corners) > 0.5 * size(inside))
      this.walls.push({ first, count: corners.length, body, point: corners[shuts], outward: normals[shuts] });
  }

  /** @param {Placed} s @param {number[][]} corners @param {number[][]|null} normals of the corners; null: of the face
   * @param {Vec} [nodes] the points that they are */
  triangle(s, corners, normals, nodes) {
    const face = normals ? null : unit(cross(subtract(corners[1], corners[0]), subtract(corners[2], corners[0])));
    for (let k = 0; k < 3; k++) {
      this.points.push(...s.toBody(corners[k]));
      this.normals.push(...rotate(s.q, normals ? normals[k] : face || [0, 0, 1]));
      this.owners.push(s.body);
      this.nodes.push(nodes ? nodes[k] : s.node);
    }
  }

  /** A flat polygon, as a fan. @param {Placed} s @param {number[][]} corners @param {number[][]} [normals] */
  polygon(s, corners, normals) {
    for (let k = 1; k + 1 < corners.length; k++)
      this.triangle(s, [corners[0], corners[k], corners[k + 1]], normals ? [normals[0], normals[k], normals[k + 1]] : null);
  }

  /** @param {Placed} s @param {number[][]} points @param {boolean} closed */
  line(s, points, closed) {
    for (let k = 0; k < points.length - (closed ? 0 : 1); k++)
      this.segments.push(...s.toBody(points[k]), ...s.toBody(points[(k + 1) % points.length]), s.body);
  }
}

/** A shape in its body. */
class Placed {
  /** @param {Shape} shape @param {Bulk} bulk @param {number} body @param {number} sides of a circle
   * @param {number} reach of what has no end @param {number[]} middle about which it is drawn, in the shape's frame */
  constructor(shape, bulk, body, sides, reach, middle) {
    const affine = bulk.solid === 'affine';
    this.shape = shape;
    this.bulk = bulk;
    this.body = body;
    this.node = affine ? -2 - (bulk.first || 0) : -1;
    this.unit = affine ? FINER * bulk.reach : 1; // columns of F are as long
    this.sides = sides;
    this.reach = reach;
    this.middle = middle;
    this.x = shape.x || [0, 0, 0];
    this.q = shape.q || [1, 0, 0, 0];
    this.radius = shape.radius || 0;
    this.length = shape.length || 0;
    this.size = shape.size || [this.radius, this.radius, this.radius];
  }

  /** @param {Vec} p */
  toBody(p) { return scale(add(this.x, rotate(this.q, p)), 1 / this.unit); }

  get points() { return triples(this.shape.points || []); }
}

/** @param {number} sides @param {number} radius @param {number} z */
function circle(sides, radius, z) {
  return Array.from({ length: sides }, (_, k) => [radius * Math.cos(2 * Math.PI * k / sides), radius * Math.sin(2 * Math.PI * k / sides), z]);
}

/** Points are balls of three pixels. @param {Surfaces} out @param {Placed} s */
function addBall(out, s) { out.balls.push(...s.x, s.radius || -3, s.body); }

/** An ellipsoid of these semi-axes whose halves are length apart. @type {AddRound} */
function addRound(out, s, axes, length) {
  const rings = Math.max(4, s.sides / 2 & ~1), rows = [];
  for (let i = 0; i <= rings; i++)
    for (const shift of 2 * i === rings && length > 0 ? [-1, 1] : [2 * i < rings ? -1 : 1]) {
      const angle = Math.PI * i / rings;
      rows.push(circle(s.sides, Math.sin(angle), -Math.cos(angle)).map((n) => ({
        point: [axes[0] * n[0], axes[1] * n[1], axes[2] * n[2] + shift * length / 2],
        normal: unit([n[0] / axes[0], n[1] / axes[1], n[2] / axes[2]]) })));
    }
  for (let i = 0; i + 1 < rows.length; i++)
    for (let k = 0; k < s.sides; k++) {
      const next = (k + 1) % s.sides, four = [rows[i][k], rows[i][next], rows[i + 1][next], rows[i + 1][k]];
      out.polygon(s, four.map((p) => p.point), four.map((p) => p.normal));
    }
}

/** @type {AddTube} */
function addTube(out, s, length, inside, ends) {
  const low = circle(s.sides, s.radius, -length / 2), high = circle(s.sides, s.radius, length / 2), sign = inside ? -1 : 1;
  for (let k = 0; k < s.sides; k++) {
    const next = (k + 1) % s.sides, four = [low[k], low[next], high[next], high[k]];
    if (inside) four.reverse();
    out.polygon(s, four, four.map((p) => scale([p[0], p[1], 0], sign / s.radius)));
  }
  if (!ends) return;
  out.polygon(s, inside ? low : [...low].reverse());
  out.polygon(s, inside ? [...high].reverse() : high);
}

/** @param {Surfaces} out @param {Placed} s @param {boolean} inside */
function addBox(out, s, inside) {
  const faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
  const corner = (c = 0) => s.size.map((size, k) => (c >> k & 1 ? 0.5 : -0.5) * size);
  for (const face of faces) out.polygon(s, (inside ? [...face].reverse() : face).map(corner));
}

/** @param {Surfaces} out @param {Placed} s */
function addTriangles(out, s) {
  const points = s.points, triangles = s.shape.triangles || [], first = s.bulk.first || 0;
  for (let k = 0; k < triangles.length; k += 3) {
    const three = triangles.slice(k, k + 3);
    out.triangle(s, three.map((i) => points[i]), null, s.bulk.solid === 'skin' ? three.map((i) => first + i) : undefined);
  }
}

/** @type {Record<string, (out: Surfaces, s: Placed) => void>} */
const SURFACES = {
  'disc': addBall,
  'sphere': addBall,
  'half-plane': (out, s) => out.line(s, [[s.middle[0] - s.reach, 0, 0], [s.middle[0] + s.reach, 0, 0]], false),
  'chain': (out, s) => out.line(s, s.points, Boolean(s.shape.closed)),
  'polygon': (out, s) => {
    out.polygon(s, s.points);
    out.line(s, s.points, true);
  },
  'drum': (out, s) => out.line(s, circle(128, s.radius, 0), true),
  'half-space': (out, s) => {
    const [x, y] = s.middle, r = s.reach;
    out.polygon(s, [[x - r, y - r, 0], [x + r, y - r, 0], [x + r, y + r, 0], [x - r, y + r, 0]]);
  },
  'box': (out, s) => addBox(out, s, false),
  'box-inside': (out, s) => addBox(out, s, true),
  'capsule': (out, s) => addRound(out, s, [s.radius, s.radius, s.radius], s.length),
  'ellipsoid': (out, s) => addRound(out, s, s.size, 0),
  'cylinder': (out, s) => addTube(out, s, s.length, false, true),
  'cylinder-inside': (out, s) => addTube(out, s, s.length || 2 * s.reach, true, s.length > 0),
  'polyhedron': addTriangles,
  'mesh': addTriangles,
  'skin': addTriangles,
};

/** As many sides of a circle as all shapes together allow. @param {Scene} scene */
function sidesFor(scene) {
  const isRound = (/** @type {string} */ kind, /** @type {string|undefined} */ solid) =>
    ['capsule', 'ellipsoid', 'cylinder'].includes(kind) || solid === 'affine' && kind === 'sphere';
  const round = scene.bodies.reduce((sum, b) => sum + b.shapes.filter((s) => isRound(s.kind, b.solid)).length, 0);
  return [48, 32, 24, 16, 12].find((sides) => round * sides * sides * 3 < 1.5e6) || 8;
}

/** @type {GatherSurfaces} */
function gatherSurfaces(now, centre, reach) {
  const out = new Surfaces(), sides = sidesFor(now.scene);
  const moving = now.scene.bodies.flatMap((b, id) => (b.motion || !now.isThere(id) ? [] : [now.place(id)]));
  let stand = now.run.bodies;
  now.scene.bodies.forEach((body, id) => {
    const x = now.place(id), q = now.turn(id);
    for (const shape of body.shapes) {
      const inBody = rotateBack(q, subtract(centre, x));
      const middle = rotateBack(shape.q || [1, 0, 0, 0], subtract(inBody, shape.x || [0, 0, 0]));
      const draw = SURFACES[body.solid === 'affine' && shape.kind === 'sphere' ? 'ellipsoid' : shape.kind];
      const owner = body.solid === 'line' && (body.count || 0) > 1 ? stand++ : id;
      const first = out.owners.length;
      if (draw) draw(out, new Placed(shape, body, owner, shape.obstacle ? 96 : sides, reach, middle));
      if (body.motion && ['box', 'polyhedron'].includes(shape.kind)) out.addWall(first, id, moving.map((p) => rotateBack(q, subtract(p, x))));
    }
  });
  return out;
}
