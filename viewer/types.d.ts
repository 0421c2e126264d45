// What things of the viewer are, for those who read it and for the checker of types; the page does not carry it.

type Vec = ArrayLike<number>;
type Numbers = Float32Array | Int32Array | Int16Array | Uint8Array;

// ---- what the page is told: members that are absent are 0 ----

interface Shape {
  kind: string; obstacle?: boolean; material?: number;
  x?: number[]; q?: number[]; // about the mass centre, in the body's axes
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

interface Sight { origin: number[]; eye: Float32Array; lens: Float32Array; pixel: number; ortho: boolean; cut: number[] }

/** A way to colour: values of a body, the largest over the run, its unit; or names of classes; or of the points of skins. */
interface Measure {
  name: string; unit: string; value: (now: Moment, body: number) => number; top: () => number;
  classes?: (value: number) => string; ofPoints?: boolean;
}

interface Curve { name: string; x: Vec; y: Vec; colour: string }
interface Plot { title: string; unit: string; logarithmic: boolean; limit?: number; curves: Curve[] }

interface Picked { kind: string; id: number; pair?: number[] }
/** Plots of what is picked: title, unit, curves with where their numbers stand in what `values` gives. */
interface PickedCurves { values: (now: Moment) => number[]; plots: [string, string, [string, number][]][] }
