// What the page carries: packed blocks, unpacked when a frame of theirs is looked at.

/**
 * @typedef {{kind: string, obstacle?: boolean, x?: number[], q?: number[], radius?: number, length?: number, size?: number[],
 *   points?: number[], closed?: boolean, triangles?: number[], material?: number}} Shape
 * @typedef {{name?: string, motion?: string, mass?: number, ball?: boolean, reach: number, shapes: Shape[]}} Bulk
 * @typedef {{name: string, kind: string, a: number, b: number, xa: number[], qa: number[], xb: number[], qb: number[]}} Joint
 * @typedef {{first: number, count: number, planes: number, speed: number, spin: number, energy: number, force: number}} BlockFacts
 * @typedef {{title: string, version: string, solver: string, tolerance: number, dimension: number, gravity: number[],
 *   period: number[], finished: boolean, chains: boolean, quantum: number, smallest: number, beyond: number,
 *   low: number[], high: number[], result_frames: number, contacts: number, left_out: number, steps: number, uncertified: number,
 *   history_rows: number, history_steps: number, materials: string[], bodies: Bulk[], joints: Joint[],
 *   frames: (number|null)[][], blocks: BlockFacts[]}} Scene
 * @typedef {{count: number, a: Int32Array, b: Int32Array, image: Uint8Array, level: Uint8Array, slip: Uint8Array, place: Int8Array}} Chains
 * @typedef {{facts: BlockFacts, places: Int32Array, turns: Int16Array, speed: Uint16Array, spin: Uint16Array,
 *   chains: Chains[], joints: Float32Array, bytes: number}} Block
 */

const MOST_UNPACKED = 256e6; // bytes
const JOINT_CHANNELS = 6; // acts, force, torque, gap, coordinate, its speed
const PLACE_PARTS = 5; // of a contact: the point, and the normal on an octahedron

/** @param {string} text */
function fromBase64(text) {
  const codes = new Uint8Array(128), letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  for (let k = 0; k < 64; k++) codes[letters.charCodeAt(k)] = k;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0, size = text.length / 4 * 3 - padding;
  const bytes = new Uint8Array(size);
  for (let k = 0, at = 0; k < text.length; k += 4) {
    const four = codes[text.charCodeAt(k)] << 18 | codes[text.charCodeAt(k + 1)] << 12 |
      codes[text.charCodeAt(k + 2)] << 6 | codes[text.charCodeAt(k + 3)];
    bytes[at++] = four >> 16;
    if (at < size) bytes[at++] = four >> 8;
    if (at < size) bytes[at++] = four;
  }
  return bytes;
}

/** The bytes that the page carries under this name; none where it has none. @param {string} name */
async function unpack(name) {
  const element = document.getElementById(name), text = element ? element.textContent || '' : '';
  if (!text) return new Uint8Array(0);
  const stream = new Blob([fromBase64(text)]).stream().pipeThrough(new DecompressionStream('deflate'));
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

class Run {
  /** @param {Scene} scene @param {Float32Array} history */
  constructor(scene, history) {
    this.scene = scene;
    this.history = history;
    this.bodies = scene.bodies.length;
    this.width = Math.min(1024, this.bodies); // of the textures that hold a row per body
    this.stride = this.width * Math.ceil(this.bodies / this.width);
    /** @type {Map<number, Promise<Block>>} */
    this.unpacked = new Map();
    this.bytes = 0;
  }

  static async open() {
    const text = new TextDecoder().decode(await unpack('scene0'));
    const history = await unpack('history0');
    return new Run(JSON.parse(text), new Float32Array(history.buffer));
  }

  get frames() { return this.scene.frames.length; }

  /** A column of the history. @param {number} index */
  column(index) {
    const rows = this.scene.history_rows;
    return this.history.subarray(index * rows, (index + 1) * rows);
  }

  /** @param {number} frame */
  blockOf(frame) { return this.scene.blocks.findIndex((b) => frame < b.first + b.count); }

  /** The block that holds a frame, and which of its frames it is. @param {number} frame */
  async at(frame) {
    const index = this.blockOf(frame);
    let found = this.unpacked.get(index);
    if (found) this.unpacked.delete(index);
    else found = this.read(index);
    this.unpacked.set(index, found); // the last one used stands last
    const block = await found;
    this.forget();
    return { block, row: frame - block.facts.first };
  }

  /** The blocks used longest ago, as far as all take more than they may. */
  forget() {
    for (const [index, promise] of this.unpacked) {
      if (this.bytes <= MOST_UNPACKED || this.unpacked.size < 2) return;
      this.unpacked.delete(index);
      promise.then((block) => { this.bytes -= block.bytes; });
      return;
    }
  }

  /** @param {number} index @returns {Promise<Block>} */
  async read(index) {
    const facts = this.scene.blocks[index];
    const [states, chains, joints] = await Promise.all([unpack(`states${index}`), unpack(`chains${index}`), unpack(`joints${index}`)]);
    const count = facts.count * this.stride;
    const block = { facts, places: new Int32Array(4 * count), turns: new Int16Array(4 * count), speed: new Uint16Array(count),
      spin: new Uint16Array(count), chains: readChains(chains, this.scene, facts.count), joints: new Float32Array(joints.buffer), bytes: 0 };
    const rest = { at: 0 };
    for (let c = 0; c < 3; c++) this.channel(states, rest, facts, facts.planes, block.places, 4, c);
    for (let c = 0; c < 4; c++) this.channel(states, rest, facts, 2, block.turns, 4, c);
    this.channel(states, rest, facts, 2, block.speed, 1, 0);
    this.channel(states, rest, facts, 2, block.spin, 1, 0);
    this.channel(states, rest, facts, 1, block.places, 4, 3);
    block.bytes = 28 * count + block.chains.reduce((sum, c) => sum + 16 * c.count, 0) + joints.length;
    this.bytes += block.bytes;
    return block;
  }

  /** Sums up the differences of a channel into every step-th number of out.
   * @param {Uint8Array} bytes @param {{at: number}} rest @param {BlockFacts} facts @param {number} planes
   * @param {Int32Array|Int16Array|Uint16Array} out @param {number} step @param {number} first */
  channel(bytes, rest, facts, planes, out, step, first) {
    const bodies = this.bodies, size = facts.count * bodies, start = rest.at;
    for (let f = 0; f < facts.count; f++) {
      let from = start + f * bodies, to = f * this.stride * step + first;
      const before = this.stride * step;
      for (let b = 0; b < bodies; b++, from++, to += step) {
        let zigzag = bytes[from];
        for (let p = 1; p < planes; p++) zigzag |= bytes[from + p * size] << 8 * p;
        out[to] = (f ? out[to - before] : 0) + (zigzag >>> 1 ^ -(zigzag & 1));
      }
    }
    rest.at += planes * size;
  }

  /** Where a body's mass centre is, m. @param {Block} block @param {number} row @param {number} body */
  place(block, row, body) {
    const at = 4 * (row * this.stride + body), h = this.scene.quantum;
    return [block.places[at] * h, block.places[at + 1] * h, block.places[at + 2] * h];
  }

  /** @param {Block} block @param {number} row @param {number} body */
  isThere(block, row, body) { return block.places[4 * (row * this.stride + body) + 3] === 1; }

  /** @param {Block} block @param {number} row @param {number} body */
  turn(block, row, body) {
    const at = 4 * (row * this.stride + body), q = [0, 1, 2, 3].map((k) => block.turns[at + k]), size = Math.hypot(...q) || 1;
    return q.map((value) => value / size);
  }

  /** m/s @param {Block} block @param {number} row @param {number} body */
  speed(block, row, body) { return block.facts.speed * (block.speed[row * this.stride + body] / 1023) ** 2; }

  /** rad/s @param {Block} block @param {number} row @param {number} body */
  spin(block, row, body) { return block.facts.spin * (block.spin[row * this.stride + body] / 1023) ** 2; }

  /** One of a joint's six numbers. @param {Block} block @param {number} row @param {number} joint @param {number} channel */
  joint(block, row, joint, channel) {
    return block.joints[(row * JOINT_CHANNELS + channel) * this.scene.joints.length + joint];
  }

  /** Normal force, N. @param {Block} block @param {Chains} chains @param {number} contact */
  force(block, chains, contact) { return block.facts.force * 2 ** ((chains.level[contact] - 255) / 8); }

  /** What holds of every frame, asked block by block: fill(block, row, frame).
   * @param {(block: Block, row: number, frame: number) => void} fill */
  async eachFrame(fill) {
    for (const facts of this.scene.blocks) {
      const { block } = await this.at(facts.first);
      for (let row = 0; row < facts.count; row++) fill(block, row, facts.first + row);
    }
  }
}

/** Contacts of each frame of a block: those that stay first, in the order of the frame before.
 * @param {Uint8Array} bytes @param {Scene} scene @param {number} frames @returns {Chains[]} */
function readChains(bytes, scene, frames) {
  /** @type {Chains[]} */
  const all = [];
  if (!bytes.length) return all;
  const reader = new Reader(bytes), counts = new Reader(reader.part()), stays = reader.part(), pairs = new Reader(reader.part());
  const levels = reader.part(), slips = reader.part(), places = Array.from({ length: PLACE_PARTS }, () => reader.part());
  let stay = 0, contact = 0, placed = 0;
  /** @type {Chains|null} */
  let before = null;
  for (let f = 0; f < frames; f++) {
    const fresh = counts.count(), old = before ? before.count : 0;
    let kept = 0;
    for (let k = 0; k < old; k++) kept += stays[stay + k];
    const count = kept + fresh;
    /** @type {Chains} */
    const now = { count, a: new Int32Array(count), b: new Int32Array(count), image: new Uint8Array(count), level: new Uint8Array(count),
      slip: new Uint8Array(count), place: new Int8Array(PLACE_PARTS * count) };
    /** @param {number} to @param {number} from, −1 for none */
    const finish = (to, from) => {
      now.level[to] = levels[contact] + (before && from >= 0 ? before.level[from] : 0);
      now.slip[to] = slips[contact++];
      if (scene.bodies[now.a[to]].ball && scene.bodies[now.b[to]].ball) return;
      for (let p = 0; p < PLACE_PARTS; p++)
        now.place[PLACE_PARTS * to + p] = places[p][placed] + (before && from >= 0 ? before.place[PLACE_PARTS * from + p] : 0);
      placed++;
    };
    let to = 0;
    for (let from = 0; before && from < old; from++) {
      if (!stays[stay++]) continue;
      now.a[to] = before.a[from];
      now.b[to] = before.b[from];
      now.image[to] = before.image[from];
      finish(to++, from);
    }
    for (let k = 0, last = 0; k < fresh; k++, to++) {
      last += pairs.count();
      const apart = pairs.count();
      now.a[to] = last;
      now.b[to] = last + (apart & 1 ? -(apart + 1) / 2 : apart / 2);
      now.image[to] = pairs.bytes[pairs.at++];
      finish(to, -1);
    }
    all.push(now);
    before = now;
  }
  return all;
}

/** The normal that an octahedron's two numbers stand for. @param {number} a @param {number} b */
function unfold(a, b) {
  let x = a / 127, y = b / 127;
  const z = 1 - Math.abs(x) - Math.abs(y);
  if (z < 0) [x, y] = [(1 - Math.abs(y)) * (x < 0 ? -1 : 1), (1 - Math.abs(x)) * (y < 0 ? -1 : 1)];
  return unit([x, y, z]);
}
