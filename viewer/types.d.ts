// What things of the viewer are, for those who read it and for the checker of types; the page does not carry it.

type Vec = ArrayLike<number>;
type GL = WebGL2RenderingContext;
type Pen = CanvasRenderingContext2D;
type Canvas = HTMLCanvasElement;
type Words = Record<string, string>;
type Numbers = Float32Array | Int32Array | Int16Array | Uint8Array;

// ---- what the page is told: members that are absent are 0 ----

interface Shape {
  kind: string; obstacle?: boolean; material?: number;
  x?: number[]; q?: number[]; // about the mass centre, in the body's axes; of a line in the frame of its place
  radius?: number; length?: number; size?: number[];
  points?: number[]; closed?: boolean; triangles?: number[];
}

interface Bulk {
  name?: string; motion?: string; // without it: dynamic
  mass?: number; ball?: boolean; reach: number; shapes: Shape[];
  solid?: 'line' | 'skin' | 'affine'; first?: number; count?: number; // how it deforms, and which of the run's points are its own
}

interface Joint { name: string; kind: string; a: number; b: number; xa: number[]; qa: number[]; xb: number[]; qb: number[] } // -1: the ground

interface BlockFacts {
  first: number; count: number; // of frames
  planes: number; point_planes: number; // bytes of a coordinate
  speed: number; spin: number; energy: number; stress: number; force: number; // the largest in it
}

interface Scene {
  title: string; version: string; solver: string; tolerance: number; dimension: number; gravity: number[]; period: number[];
  finished: boolean; chains: boolean; points: number;
  quantum: number; smallest: number; beyond: number; low: number[]; high: number[];
  result_frames: number; contacts: number; left_out: number; steps: number; uncertified: number; history_rows: number; history_steps: number;
  materials: string[]; bodies: Bulk[]; joints: Joint[]; blocks: BlockFacts[];
  frames: (number | null)[][]; // see Moment.facts
}

// ---- what it makes of that ----

interface Rows { width: number; height: number; stride: number }

/** Contacts of a frame that carried a force. */
interface Chains { count: number; a: Int32Array; b: Int32Array; image: Uint8Array; level: Uint8Array; slip: Uint8Array; place: Int8Array }

/** Frames that are unpacked together: places are x, y, z and whether the body is there; points x, y, z and stress. */
interface Block {
  facts: BlockFacts; places: Int32Array; turns: Int16Array; speed: Uint16Array; spin: Uint16Array; points: Int32Array;
  chains: Chains[]; joints: Float32Array; bytes: number;
}

interface Sight { at: number[]; origin: number[]; eye: Float32Array; lens: Float32Array; pixel: number; ortho: boolean; cut: number[] }

/** A way to colour: values of a body, the largest over the run, its unit; or names of classes; or of the points of skins. */
interface Measure {
  name: string; unit: string; value: (now: Moment, body: number) => number; top: () => number;
  classes?: string[]; ofPoints?: boolean;
}

/** A solid shape that shuts in what moves: its triangles' corners, and its outer side in the axes of its body. */
interface Wall { first: number; count: number; body: number; point: number[]; outward: number[] }

interface Curve { name: string; x: Vec; y: Vec; colour: string }
interface Plot { title: string; unit: string; logarithmic: boolean; limit?: number; curves: Curve[] }

interface Picked { kind: string; id: number; pair?: number[] }
/** Plots of what is picked: title, unit, curves with where their numbers stand in what `values` gives. */
interface PickedCurves { values: (now: Moment) => number[]; plots: [string, string, [string, number][]][] }

// ---- what its functions take, where that is much ----

type ListenToHands = (canvas: HTMLCanvasElement, camera: Camera, changed: () => void, clicked: (x: number, y: number) => void) => void; // clicked: in pixels of the canvas
type ColourBodies = (now: Moment, measure: Measure, ofFrame: boolean, tint: Uint8Array, wall: number[]) => number;
type ReadChains = (bytes: Uint8Array, scene: Scene, frames: number) => Chains[];
type FillTexture = (gl: WebGL2RenderingContext, texture: WebGLTexture|null, width: number, height: number, numbers: Numbers, row: number) => void; // row: which of such textures in them
type Fill = (select: HTMLSelectElement, names: string[], chosen: string) => void;
type WorldPoint = (now: Moment, body: number, local: number[], origin: Vec) => number[]; // body: −1: the ground; origin: in quanta
type ContactEnds = (now: Moment, chains: Chains, k: number, origin: Vec) => { from: number[]; to: number[]; normal: number[]; point: number[] };
type AddRibbon = (table: Table, a: Vec, b: Vec, width: number, colour: number, kind: number, id: number) => void;
type AddChains = (now: Moment, table: Table, origin: Vec, chains: boolean, normals: boolean) => void;
type JointEnds = (now: Moment, id: number, origin: Vec) => number[][];
type AddJoints = (now: Moment, table: Table, marks: Table, origin: Vec) => void;
type AddTrail = (path: number[][], run: Run, table: Table, origin: Vec, colour: number) => void; // path: in the world
type Compose = (scene: HTMLCanvasElement, lines: string[], ink: string, scale: HTMLCanvasElement|null, legend: string, classes: string[]) => HTMLCanvasElement;
type Film = (canvas: HTMLCanvasElement, frames: number, rate: number, show: (frame: number) => Promise<void>) => Promise<Blob>; // rate: frames a second
type AddRound = (out: Surfaces, s: Placed, axes: number[], length: number) => void;
type AddTube = (out: Surfaces, s: Placed, length: number, inside: boolean, ends: boolean) => void;
type GatherSurfaces = (now: Moment, centre: number[], reach: number) => Surfaces; // now: the first; centre: of what is seen
type ViewMatrix = (right: number[], up: number[], toward: number[], at: number[]) => Float32Array;
type Perspective = (tangent: number, aspect: number, near: number, far: number) => Float32Array; // tangent: of half the angle of view, upward
type Parallel = (half: number, aspect: number, depth: number) => Float32Array; // half: height of what is seen
type MakePlot = (title: string, unit: string, logarithmic: boolean, columns: [string, number][]) => Plot; // columns: by name and number
