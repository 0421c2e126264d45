// What the page carries: packed blocks, unpacked when a frame of theirs is looked at.

const MOST_UNPACKED = 256e6; // bytes
const JOINT_CHANNELS = 9; // acts, force, torque, gap, coordinate, its speed, where it is
const FINER = 8; // columns of F are told in so small parts of a quantum
const PLACE_PARTS = 5; // of a contact: the point, and the normal on an octahedron

/** @param {string} text in base64 */
function bytesOf(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = letters.charCodeAt(k);
  return bytes;
}

/** The bytes that the page carries under this name; none where it has none. @param {string} name */
async function unpack(name) {
  const element = document.getElementById(name), text = element ? element.textContent || '' : '';
  if (!text) return new Uint8Array(0);
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Numbers of seven bits a byte, one after the other. */
class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  count() {
    let value = 0, factor = 1, byte = 128;
    while (byte > 127) {
      byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      factor *= 128;
    }
    return value;
  }

  part() {
    const size = this.count();
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }
}

/** How rows of textures hold so many items: their width and number, and the items of all rows. @param {number} count */
function rowsOf(count) {
  const width = Math.max(1, Math.min(1024, count)), height = Math.max(1, Math.ceil(count / width));
  return { width, height, stride: width * height };
}

/** Numbers that are packed one channel after the other: of all frames and items, by the differences between frames. */
class Channels {
  /** @param {Uint8Array} bytes @param {number} frames @param {number} items @param {number} stride of items where they go */
  constructor(bytes, frames, items, stride) {
    this.bytes = bytes;
    this.frames = frames;
    this.items = items;
    this.stride = stride;
    this.at = 0;
  }

  /** The next channel, into every step-th number from `first` on.
   * @param {number} planes bytes of a number @param {Int32Array|Int16Array|Uint16Array} out @param {number} step @param {number} first */
  take(planes, out, step, first) {
    const { bytes, items, stride } = this, size = this.frames * items, before = stride * step;
    for (let f = 0; f < this.frames; f++) {
      let from = this.at + f * items, to = f * before + first;
      for (let k = 0; k < items; k++, from++, to += step) {
        let zigzag = bytes[from];
        for (let p = 1; p < planes; p++) zigzag |= bytes[from + p * size] << 8 * p;
        out[to] = (f ? out[to - before] : 0) + (zigzag >>> 1 ^ -(zigzag & 1));
      }
    }
    this.at += planes * size;
  }
}

class Run {
  /** @param {Scene} scene @param {Float32Array} history */
  constructor(scene, history) {
    this.scene = scene;
    this.history = history;
    this.bodies = scene.bodies.length;
    /** Bodies of shapes on lines, each of which has a place behind the bodies' own. @type {number[]} */
    this.stands = scene.bodies.flatMap(({ solid, shapes, count = 0 }, body) => (solid === 'line' && count > 1 ? shapes.map(() => body) : []));
    this.rows = rowsOf(this.bodies + this.stands.length); // of the textures that hold a cell per body
    this.pointRows = rowsOf(scene.points);
    /** @type {Map<number, Promise<Block>>} */
    this.unpacked = new Map();
    this.bytes = this.largest = 0; // of blocks that are unpacked
  }

  static async open() {
    const text = new TextDecoder().decode(await unpack('scene0'));
    const history = await unpack('history0');
    return new Run(JSON.parse(text), new Float32Array(history.buffer));
  }

  get frames() { return this.scene.frames.length; }

  /** The body itself, or that of a stand. @param {number} id */
  owner(id) { return id < this.bodies ? id : this.stands[id - this.bodies]; }

  /** The largest of all blocks. @param {'speed'|'spin'|'energy'|'stress'|'force'} key */
  top(key) { return Math.max(...this.scene.blocks.map((b) => b[key])); }

  /** A column of the history. @param {number} index */
  column(index) {
    const rows = this.scene.history_rows;
    return this.history.subarray(index * rows, (index + 1) * rows);
  }

  async at(frame = 0) {
    const index = this.scene.blocks.findIndex((b) => frame < b.first + b.count);
    let found = this.unpacked.get(index);
    if (found) this.unpacked.delete(index);
    else this.forget();
    found ||= this.read(index);
    this.unpacked.set(index, found); // the last one used stands last
    const block = await found;
    return new Moment(this, block, frame - block.facts.first);
  }

  /** The block used longest ago, where one more would take more than all may. */
  forget() {
    for (const [index, promise] of this.unpacked) {
      if (this.bytes + this.largest <= MOST_UNPACKED || this.unpacked.size < 2) return;
      this.unpacked.delete(index);
      promise.then((block) => { this.bytes -= block.bytes; });
      return;
    }
  }

  async read(index = 0) {
    const facts = this.scene.blocks[index], frames = facts.count;
    const [states, solids, chains, joints] = await Promise.all(['states', 'points', 'chains', 'joints'].map((name) => unpack(name + index)));
    const count = frames * this.rows.stride, pointCount = frames * this.pointRows.stride;
    const block = { facts, places: new Int32Array(4 * count), turns: new Int16Array(4 * count), speed: new Uint16Array(count),
      spin: new Uint16Array(count), points: new Int32Array(4 * pointCount), chains: readChains(chains, this.scene, frames),
      joints: new Float32Array(joints.buffer), bytes: 0 };
    const of = new Channels(states, frames, this.bodies + this.stands.length, this.rows.stride);
    for (let c = 0; c < 3; c++) of.take(facts.planes, block.places, 4, c);
    for (let c = 0; c < 4; c++) of.take(2, block.turns, 4, c);
    of.take(2, block.speed, 1, 0);
    of.take(2, block.spin, 1, 0);
    of.take(2, block.places, 4, 3);
    this.readPoints(solids, block);
    block.bytes = 28 * count + 16 * pointCount + block.chains.reduce((sum, c) => sum + 16 * c.count, 0) + joints.length;
    this.bytes += block.bytes;
    this.largest = Math.max(this.largest, block.bytes);
    return block;
  }

  /** Points that move by themselves: x, y, z, stress. Those of lines and skins are told from their bodies' places.
   * @param {Uint8Array} bytes @param {Block} block */
  readPoints(bytes, block) {
    const { facts, points, places } = block, of = new Channels(bytes, facts.count, this.scene.points, this.pointRows.stride);
    for (let c = 0; c < 4; c++) of.take(c < 3 ? facts.point_planes : 2, points, 4, c);
    this.scene.bodies.forEach(({ solid, first = 0, count = 0 }, id) => {
      if (!solid || solid === 'affine') return;
      for (let f = 0; f < facts.count; f++)
        for (let k = first; k < first + count; k++)
          for (let c = 0; c < 3; c++) points[4 * (f * this.pointRows.stride + k) + c] += places[4 * (f * this.rows.stride + id) + c];
    });
  }

  /** Asks for all frames, block by block. @param {(now: Moment, frame: number) => void} take */
  async eachFrame(take) {
    for (const { first, count } of this.scene.blocks) {
      const { block } = await this.at(first);
      for (let row = 0; row < count; row++) take(new Moment(this, block, row), first + row);
    }
  }
}

/** A run at one frame. */
class Moment {
  /** @param {Run} run @param {Block} block @param {number} row which of the block's frames */
  constructor(run, block, row) {
    this.run = run;
    this.scene = run.scene;
    this.block = block;
    this.row = row;
    this.first = row * run.rows.stride;
  }

  /** Number among the results, step, time, certified, residual, held, penetration, iterations, contacts, container force. */
  get facts() { return this.scene.frames[this.block.facts.first + this.row]; }

  /** @type {Chains|undefined} */
  get chains() { return this.block.chains[this.row]; }

  /** Where a body's mass centre is, m. @param {number} body */
  place(body) { return scale(this.block.places.subarray(4 * (this.first + body)), this.scene.quantum); }

  isThere(body = 0) { return this.block.places[4 * (this.first + body) + 3] === 1; }

  turn(body = 0) {
    const at = 4 * (this.first + body), q = [...this.block.turns.subarray(at, at + 4)], size = Math.hypot(...q) || 1;
    return q.map((value) => value / size);
  }

  /** m/s @param {number} body */
  speed(body) { return this.block.facts.speed * (this.block.speed[this.first + body] / 1023) ** 2; }

  /** rad/s @param {number} body */
  spin(body) { return this.block.facts.spin * (this.block.spin[this.first + body] / 1023) ** 2; }

  /** Four numbers of one of a body's own points. @param {number} body @param {number} k */
  point(body, k) {
    const at = 4 * (this.row * this.run.pointRows.stride + (this.scene.bodies[body].first || 0) + k);
    return this.block.points.subarray(at, at + 4);
  }

  /** Von Mises's, Pa: the largest of a body's points. @param {number} body */
  stress(body) {
    const { solid, count = 0 } = this.scene.bodies[body];
    let top = 0;
    for (let k = 0; solid === 'skin' && k < count; k++) top = Math.max(top, this.point(body, k)[3]);
    return this.block.facts.stress * (top / 1023) ** 2;
  }

  /** Volume over that at rest, of a body that deforms alike everywhere. @param {number} body */
  stretch(body) {
    const unitLength = FINER * this.scene.bodies[body].reach / this.scene.quantum, [a, b, c] = [0, 1, 2].map((k) => scale(this.point(body, k), 1 / unitLength));
    return dot(a, cross(b, c));
  }

  /** One of a joint's numbers. @param {number} joint @param {number} channel */
  joint(joint, channel) { return this.block.joints[(this.row * JOINT_CHANNELS + channel) * this.scene.joints.length + joint]; }

  /** Normal force of a contact, N. @param {number} contact */
  force(contact) { return this.block.facts.force * 2 ** (((this.chains ? this.chains.level[contact] : 0) - 255) / 8); }
}

/** Room for so many contacts. @param {number} count */
const makeChains = (count) => ({ count, a: new Int32Array(count), b: new Int32Array(count), image: new Uint8Array(count),
  level: new Uint8Array(count), slip: new Uint8Array(count), place: new Int8Array(PLACE_PARTS * count) });

/** Contacts of each frame of a block: those that stay first, in the order of the frame before. @type {ReadChains} */
function readChains(bytes, scene, frames) {
  if (!bytes.length) return [];
  const reader = new Reader(bytes), counts = new Reader(reader.part()), stays = reader.part(), pairs = new Reader(reader.part());
  const levels = reader.part(), slips = reader.part(), places = Array.from({ length: PLACE_PARTS }, () => reader.part());
  let stay = 0, contact = 0, placed = 0, before = makeChains(0);
  return Array.from({ length: frames }, () => {
    const old = before, fresh = counts.count(), now = makeChains(stays.subarray(stay, stay + old.count).reduce((sum, s) => sum + s, fresh));
    /** All but its bodies, from what it had in the frame before, if it was there. @param {number} to @param {number} from negative: it was not */
    const finish = (to, from) => {
      now.level[to] = levels[contact] + (old.level[from] || 0);
      now.slip[to] = slips[contact++];
      if (scene.bodies[now.a[to]].ball && scene.bodies[now.b[to]].ball) return;
      for (let p = 0; p < PLACE_PARTS; p++) now.place[PLACE_PARTS * to + p] = places[p][placed] + (old.place[PLACE_PARTS * from + p] || 0);
      placed++;
    };
    let to = 0;
    for (let from = 0; from < old.count; from++) {
      if (!stays[stay++]) continue;
      now.a[to] = old.a[from];
      now.b[to] = old.b[from];
      now.image[to] = old.image[from];
      finish(to++, from);
    }
    for (let k = 0, last = 0; k < fresh; k++, to++) {
      last += pairs.count();
      const apart = pairs.count();
      now.a[to] = last;
      now.b[to] = last + (apart & 1 ? -(apart + 1) / 2 : apart / 2);
      now.image[to] = pairs.bytes[pairs.at++];
      finish(to, -PLACE_PARTS);
    }
    return before = now;
  });
}

/** The normal that an octahedron's two numbers stand for. @param {number} a @param {number} b */
function unfold(a, b) {
  let x = a / 127, y = b / 127;
  const z = 1 - Math.abs(x) - Math.abs(y);
  if (z < 0) [x, y] = [(1 - Math.abs(y)) * (x < 0 ? -1 : 1), (1 - Math.abs(x)) * (y < 0 ? -1 : 1)];
  return unit([x, y, z]);
}
