// Drawing with WebGL2: one call for balls, one for meshes, one for each set of ribbons.

const NAMES = { body: 1, contact: 2, joint: 3 };

/** Numbers in a texture of four floats a cell, read by number. */
class Table {
  /** @param {GL} gl @param {number} cells of one item */
  constructor(gl, cells) {
    this.gl = gl;
    this.cells = cells;
    this.count = 0;
    this.texture = gl.createTexture();
    this.numbers = new Float32Array(0);
  }

  /** Makes room for so many items. @param {number} count */
  begin(count) {
    const rows = Math.max(1, Math.ceil(count * this.cells / 2048));
    if (this.numbers.length < rows * 8192) this.numbers = new Float32Array(rows * 8192 + (rows >> 1) * 8192);
    this.count = 0;
    return this.numbers;
  }

  /** @param {number[]} values of one item */
  add(...values) {
    this.numbers.set(values, 4 * this.cells * this.count++);
  }

  send() { fillTexture(this.gl, this.texture, 2048, Math.max(1, Math.ceil(this.count * this.cells / 2048)), this.numbers, 0); }
}

/** Numbers, four a cell, into a texture that is read cell by cell. @type {FillTexture} */
function fillTexture(gl, texture, width, height, numbers, row) {
  const [inside, format, type] = numbers instanceof Float32Array ? [gl.RGBA32F, gl.RGBA, gl.FLOAT] : numbers instanceof Int32Array ?
    [gl.RGBA32I, gl.RGBA_INTEGER, gl.INT] : numbers instanceof Int16Array ? [gl.RGBA16I, gl.RGBA_INTEGER, gl.SHORT] : [gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE];
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, inside, width, height, 0, format, type, numbers, 4 * row * width * height);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
}

class Program {
  /** @param {GL} gl @param {string} vertex @param {string} fragment */
  constructor(gl, vertex, fragment) {
    const program = this.linked = gl.createProgram();
    const shaders = [vertex, fragment].map((text, k) => {
      const shader = /** @type {WebGLShader} */ (gl.createShader(k ? gl.FRAGMENT_SHADER : gl.VERTEX_SHADER));
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
      return shader;
    });
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS))
      throw new Error(`the graphics driver refused a program: ${shaders.map((s) => gl.getShaderInfoLog(s)).join(' ')}${gl.getProgramInfoLog(program)}`);
    /** @type {Record<string, WebGLUniformLocation|null>} */
    this.uniforms = {};
    for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
      const { name } = /** @type {WebGLActiveInfo} */ (gl.getActiveUniform(program, k));
      this.uniforms[name] = gl.getUniformLocation(program, name);
    }
  }
}

class Painter {
  /** @param {Canvas} canvas @param {Run} run */
  constructor(canvas, run) {
    const few = run.bodies <= 3000;
    const gl = canvas.getContext('webgl2', { antialias: few, alpha: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error('This browser or its graphics driver has no WebGL2, which the scene is drawn with.');
    this.gl = gl;
    this.run = run;
    this.flat = run.scene.dimension === 2;
    this.programs = {
      balls: new Program(gl, BALL_VERTEX, BALL_FRAGMENT),
      meshes: new Program(gl, MESH_VERTEX, MESH_FRAGMENT),
      ribbons: new Program(gl, RIBBON_VERTEX, RIBBON_FRAGMENT),
    };
    this.places = gl.createTexture();
    this.turns = gl.createTexture();
    this.points = gl.createTexture();
    this.stress = 0; // the block's largest over that of the scale
    this.colours = gl.createTexture();
    this.tint = new Uint8Array(4 * run.rows.stride);
    this.balls = new Table(gl, 2);
    this.outlines = new Table(gl, 3);
    this.chains = new Table(gl, 3);
    this.marks = new Table(gl, 2);
    this.vertices = 0;
    /** @type {Wall[]} */
    this.walls = [];
    this.opens = true;
    /** @type {Moment|null} */
    this.now = null;
    this.mesh = gl.createVertexArray();
    this.quads = gl.createVertexArray();
    this.quadBuffer = gl.createBuffer();
    this.quadCount = 0;
    this.pickTarget = gl.createFramebuffer();
    this.pickColour = gl.createRenderbuffer();
    this.pickDepth = gl.createRenderbuffer();
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
  }

  /** @param {Surfaces} surfaces */
  setSurfaces(surfaces) {
    const gl = this.gl, count = surfaces.balls.length / 5, lines = surfaces.segments.length / 7, bodies = this.run.scene.bodies;
    this.balls.begin(count);
    for (let k = 0; k < count; k++) {
      const [x, y, z, radius, body] = surfaces.balls.slice(5 * k, 5 * k + 5);
      this.balls.add(x, y, z, radius, body, NAMES.body, this.run.owner(body), -1);
    }
    this.balls.send();
    this.outlines.begin(lines + this.run.scene.points);
    for (let k = 0; k < lines; k++) {
      const s = surfaces.segments.slice(7 * k, 7 * k + 7), body = s[6], owner = this.run.owner(body), isWall = Boolean(bodies[owner].motion);
      this.outlines.add(s[0], s[1], s[2], body, s[3], s[4], s[5], body, -(isWall ? 1.1 : 0.7), isWall ? -1 : 0x303030, NAMES.body, owner);
    }
    bodies.forEach(({ solid, first = 0, count: points = 0 }, body) => {
      for (let k = first; solid === 'line' && k + 1 < first + points; k++)
        this.outlines.add(0, 0, 0, -2 - k, 0, 0, 0, -3 - k, -1.8, -1, NAMES.body, body);
    });
    this.outlines.send();
    this.vertices = surfaces.owners.length;
    this.walls = surfaces.walls;
    gl.bindVertexArray(this.mesh);
    const parts = /** @type {[string, number, number[]][]} */ ([['point', 3, surfaces.points], ['normal', 3, surfaces.normals], ['owner', 1, surfaces.owners], ['node', 1, surfaces.nodes]]);
    for (const [name, size, numbers] of parts) {
      const at = gl.getAttribLocation(this.programs.meshes.linked, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STATIC_DRAW);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, 0, 0);
    }
    gl.bindVertexArray(null);
  }

  /** @param {Moment} now */
  setFrame(now) {
    const { run: { rows, pointRows }, block, row } = this.now = now;
    fillTexture(this.gl, this.places, rows.width, rows.height, block.places, row);
    fillTexture(this.gl, this.turns, rows.width, rows.height, block.turns, row);
    fillTexture(this.gl, this.points, pointRows.width, pointRows.height, block.points, row);
  }

  /** Sends this.tint, the colours of all bodies. */
  sendColours() { fillTexture(this.gl, this.colours, this.run.rows.width, this.run.rows.height, this.tint, 0); }

  /** Corners of four for so many quads, each number used by its place. @param {number} count */
  useQuads(count) {
    const gl = this.gl;
    gl.bindVertexArray(this.quads);
    if (count <= this.quadCount) return;
    this.quadCount = count + (count >> 1);
    const corners = new Uint32Array(6 * this.quadCount);
    for (let k = 0; k < this.quadCount; k++) corners.set([4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 2, 4 * k + 1, 4 * k + 3], 6 * k);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.quadBuffer);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, corners, gl.STATIC_DRAW);
  }

  /** @param {Program} program @param {Sight} sight @param {boolean} picking @param {Table} [table] */
  use(program, sight, picking, table) {
    const gl = this.gl, at = (name = '') => program.uniforms[name] || null;
    gl.useProgram(program.linked);
    const textures = { places: this.places, turns: this.turns, points: this.points, colours: this.colours, table: table ? table.texture : this.colours };
    Object.entries(textures).forEach(([name, texture], k) => {
      gl.activeTexture(gl.TEXTURE0 + k);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.uniform1i(at(name), k);
    });
    gl.activeTexture(gl.TEXTURE0);
    gl.uniform3i(at('origin'), sight.origin[0], sight.origin[1], sight.origin[2]);
    gl.uniform1f(at('quantum'), this.run.scene.quantum);
    gl.uniform1f(at('pixel'), sight.pixel);
    gl.uniform1f(at('stress'), this.stress);
    gl.uniformMatrix4fv(at('eye'), false, sight.eye);
    gl.uniformMatrix4fv(at('lens'), false, sight.lens);
    gl.uniform4fv(at('cut'), sight.cut);
    gl.uniform1i(at('flatly'), this.flat ? 1 : 0);
    gl.uniform1i(at('ortho'), sight.ortho ? 1 : 0);
    gl.uniform1i(at('picking'), picking ? 1 : 0);
  }

  /** @param {Program} program @param {Table} table @param {Sight} sight @param {boolean} picking */
  drawTable(program, table, sight, picking) {
    if (!table.count) return;
    this.useQuads(table.count);
    this.use(program, sight, picking, table);
    this.gl.drawElements(this.gl.TRIANGLES, 6 * table.count, this.gl.UNSIGNED_INT, 0);
  }

  /** Whether the eye looks at a wall from outside. @param {Wall} wall @param {Sight} sight */
  hides({ body, point, outward }, sight) {
    if (!this.now) return false;
    const q = this.now.turn(body), away = subtract(sight.at, add(this.now.place(body), rotate(q, point)));
    return dot(rotate(q, outward), away) > 0;
  }

  /** All triangles but those of walls in the way. @param {Sight} sight */
  drawMeshes(sight) {
    let from = 0;
    for (const wall of this.opens ? this.walls : []) {
      if (!this.hides(wall, sight)) continue;
      this.gl.drawArrays(this.gl.TRIANGLES, from, wall.first - from);
      from = wall.first + wall.count;
    }
    this.gl.drawArrays(this.gl.TRIANGLES, from, this.vertices - from);
  }

  /** @param {Sight} sight @param {boolean} picking @param {Vec} back colour behind all */
  draw(sight, picking, back) {
    const gl = this.gl, canvas = gl.canvas;
    gl.viewport(0, 0, canvas.width, canvas.height);
    if (picking) gl.clearColor(0, 0, 0, 0);
    else gl.clearColor(back[0], back[1], back[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (this.vertices) {
      if (!this.flat && this.opens) { // of walls only the side that bodies are on: they stand open toward the eye
        gl.enable(gl.CULL_FACE);
        gl.cullFace(gl.BACK);
      }
      this.use(this.programs.meshes, sight, picking);
      gl.bindVertexArray(this.mesh);
      this.drawMeshes(sight);
      gl.disable(gl.CULL_FACE);
    }
    this.drawTable(this.programs.balls, this.balls, sight, picking);
    this.drawTable(this.programs.ribbons, this.outlines, sight, picking);
    gl.clear(gl.DEPTH_BUFFER_BIT); // chains and joints lie within bodies, and are seen through them
    this.drawTable(this.programs.ribbons, this.chains, sight, picking);
    this.drawTable(this.programs.balls, this.marks, sight, picking);
    gl.bindVertexArray(null);
  }

  /** What is seen at a pixel from the upper left: kind and number, or null. @param {Sight} sight @param {number} x @param {number} y */
  pick(sight, x, y) {
    const gl = this.gl, { width, height } = gl.canvas, four = new Uint8Array(4);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pickTarget);
    for (const [buffer, format, place] of /** @type {[WebGLRenderbuffer, number, number][]} */ (
      [[this.pickColour, gl.RGBA8, gl.COLOR_ATTACHMENT0], [this.pickDepth, gl.DEPTH_COMPONENT16, gl.DEPTH_ATTACHMENT]])) {
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, buffer);
    }
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(x, height - 1 - y, 1, 1);
    this.draw(sight, true, [0, 0, 0]);
    gl.readPixels(x, height - 1 - y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, four);
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    const kind = Object.entries(NAMES).find(([, code]) => code === four[3]);
    const id = four[0] | four[1] << 8 | four[2] << 16;
    return kind ? { kind: kind[0], id: kind[0] === 'body' ? this.run.owner(id) : id } : null;
  }
}
