"""Scenes that every engine can hold, and what is wrong with a run of one.

A scene is made of boxes, spheres and planes of one material, and of joints. An engine's run is a list of frames (step, seconds, states), a
state being 13 numbers: place, quaternion (w first), velocity, angular velocity in world axes. Errors are measured here
from states alone, by the same code for all engines; none is asked for its own opinion.

Bodies are about 1 m large, where game engines feel best.
"""
import dataclasses
import math

GRAVITY = 9.81


@dataclasses.dataclass
class Body:
    kind: str    # box or sphere
    size: tuple  # edges; of a sphere its diameter, three times
    place: tuple
    turn: tuple = (1, 0, 0, 0)
    velocity: tuple = (0, 0, 0)
    mass: float = 1  # 0: it stands still
    spin: tuple = (0, 0, 0)


@dataclasses.dataclass
class Joint:
    kind: str     # ball, hinge or slider
    bodies: tuple  # −1: the world
    point: tuple
    axis: tuple = (0, 0, 1)
    limits: tuple = (0, 0)  # of the turn or way of the second body against the first; 0, 0: none
    motor: tuple = (0, 0)   # speed, largest force
    spring: tuple = (0, 0)  # of a slider: stiffness, damping


@dataclasses.dataclass
class Scene:
    name: str
    title: str
    bodies: list
    planes: list          # (normal, offset): free where normal · x > offset
    mu: float
    e: float
    step: float
    seconds: float
    every: int            # frames are told every so many steps
    errors: tuple         # names of what is measured, see ERRORS
    joints: list = ()

    def text(self):
        """As bench/peers/scene.c reads it."""
        lines = [f"gravity 0 0 {-GRAVITY}", f"step {self.step!r}", f"steps {round(self.seconds / self.step)}",
                 f"every {self.every}", f"mu {self.mu!r}", f"e {self.e!r}"]
        lines += [f"planes {len(self.planes)}"] + [numbers((*normal, offset)) for normal, offset in self.planes]
        lines.append(f"bodies {len(self.bodies)}")
        for body in self.bodies:
            lines.append(f"{body.kind} " + numbers((*body.size, body.mass, *body.place, *body.turn, *body.velocity, *body.spin)))
        if self.joints:
            lines.append(f"joints {len(self.joints)}")
        for joint in self.joints:
            lines.append(f"{joint.kind} " + numbers((*joint.bodies, *joint.point, *joint.axis, *joint.limits, *joint.motor,
                                                     *joint.spring)))
        return "\n".join(lines) + "\n"


def numbers(values):
    return " ".join(repr(float(value)) for value in values)


# ---- vectors -----------------------------------------------------------------------------------------------


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def minus(a, b):
    return tuple(x - y for x, y in zip(a, b))


def plus(a, b, factor=1):
    return tuple(x + factor * y for x, y in zip(a, b))


def length(a):
    return math.sqrt(dot(a, a))


def axes_of(q):
    """The body's axes in the world."""
    w, x, y, z = (c / length(q) for c in q)
    return ((1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
            (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
            (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)))


def corners(body, state):
    place, axes = state[:3], axes_of(state[3:7])
    found = []
    for signs in ((a, b, c) for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)):
        point = place
        for sign, edge, axis in zip(signs, body.size, axes):
            point = plus(point, axis, sign * edge)
        found.append(point)
    return found


# ---- scenes ------------------------------------------------------------------------------------------------


def slope_of(degrees):
    """Normal, direction upwards along the slope and turn of a slope that descends along x."""
    angle = math.radians(degrees)
    return ((math.sin(angle), 0, math.cos(angle)), (-math.cos(angle), 0, math.sin(angle)),
            (math.cos(angle / 2), 0, math.sin(angle / 2), 0))


def make_incline(seconds=20.0):
    normal, _, turn = slope_of(20)
    box = Body("box", (1, 1, 0.5), tuple(0.25 * c for c in normal), turn)
    return Scene("incline", "a box lies on a slope of 20°, friction angle 26.6°", [box], [(normal, 0)], 0.5, 0, 0.005, seconds,
                 50, ("creep", "penetration", "gained"))


def make_stack(seconds=10.0):
    normal, _, turn = slope_of(4)
    boxes = [Body("box", (1, 1, 1), tuple((0.5 + k) * c for c in normal), turn) for k in range(10)]
    return Scene("stack", "ten cubes stand on each other on a slope of 4°", boxes, [(normal, 0)], 0.5, 0, 0.005, seconds, 50,
                 ("creep", "penetration", "gained"))


def make_roll(seconds=1.0):
    direction = (math.cos(math.radians(30)), math.sin(math.radians(30)), 0)
    ball = Body("sphere", (1, 1, 1), (0, 0, 0.5), velocity=tuple(2 * c for c in direction))
    return Scene("roll", "a ball at 2 m/s slides until it rolls, μ = 0.2, not along an axis", [ball], [((0, 0, 1), 0)], 0.2, 0,
                 0.005, seconds, 1, ("rolling", "penetration", "gained"))


def make_bounce(seconds=10.0):
    ball = Body("sphere", (1, 1, 1), (0, 0, 1.5))
    return Scene("bounce", "a ball falls 1 m onto a floor and bounces elastically", [ball], [((0, 0, 1), 0)], 0.2, 1, 0.005,
                 seconds, 1, ("lost", "gained", "penetration"))


def make_filling(seconds=4.0, count=200):
    side, spacing, jitter = 6, 1.1, 0.04
    width = side * spacing
    state = 42
    balls = []
    for k in range(count):
        cell = (k % side, k // side % side, k // side // side)
        place = []
        for c in cell:
            state = (6364136223846793005 * state + 1442695040888963407) % 2**64
            place.append((c + 0.5) * spacing + jitter * (2 * (state >> 11) / 2**53 - 1))
        balls.append(Body("sphere", (1, 1, 1), tuple(place)))
    walls = [((1, 0, 0), 0), ((-1, 0, 0), -width), ((0, 1, 0), 0), ((0, -1, 0), -width), ((0, 0, 1), 0)]
    return Scene("filling", f"{count} balls fall into a container, μ = 0.3", balls, walls, 0.3, 0, 0.005, seconds, 10,
                 ("motion", "resting", "penetration", "gained"))


MAKERS = {"incline": make_incline, "stack": make_stack, "roll": make_roll, "bounce": make_bounce, "filling": make_filling}


# ---- errors ------------------------------------------------------------------------------------------------


def kinetic(body, state):
    """½ m v² + ½ ωᵀ I ω."""
    if body.kind == "sphere":
        moments = [0.1 * body.mass * body.size[0]**2] * 3
    else:
        a, b, c = (edge * edge for edge in body.size)
        moments = [body.mass * pair / 12 for pair in (b + c, a + c, a + b)]
    turning = sum(moment * dot(axis, state[10:13])**2 for moment, axis in zip(moments, axes_of(state[3:7])))
    return 0.5 * body.mass * dot(state[7:10], state[7:10]) + 0.5 * turning


def energy(scene, states):
    return sum(kinetic(body, state) + body.mass * GRAVITY * state[2] for body, state in zip(scene.bodies, states))


def scale_of_energy(scene):
    """What the bodies may lose: their motion and their height above the lowest, or 1 m where they rest."""
    lowest = min(body.place[2] for body in scene.bodies)
    fall = sum(body.mass * GRAVITY * (body.place[2] - lowest) for body in scene.bodies)
    motion = sum(0.5 * body.mass * dot(body.velocity, body.velocity) for body in scene.bodies)
    return (fall + motion) or sum(body.mass for body in scene.bodies) * GRAVITY


def plane_depth(scene, body, state):
    """How deep a body is in the planes."""
    points = corners(body, state) if body.kind == "box" else [state[:3]]
    reach = 0 if body.kind == "box" else body.size[0] / 2
    return max(offset - dot(normal, point) + reach for normal, offset in scene.planes for point in points)


def sphere_depth(scene, states):
    """The deepest overlap of two spheres; cells are as wide as the largest."""
    width = max(body.size[0] for body in scene.bodies)
    cells, deepest = {}, -math.inf
    for body, state in zip(scene.bodies, states):
        cell = tuple(math.floor(c / width) for c in state[:3])
        for other in ((cell[0] + a, cell[1] + b, cell[2] + c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)):
            for size, place in cells.get(other, ()):
                deepest = max(deepest, (size + body.size[0]) / 2 - length(minus(place, state[:3])))
        cells.setdefault(cell, []).append((body.size[0], state[:3]))
    return deepest


def box_depth(scene, states):
    """How far a corner of a box in a stack is below the top of the one that it stands on. Corners beside that top, or below
    its middle, are those of a stack that fell: they are left to the planes."""
    deepest = -math.inf
    for box, below, above, state in zip(scene.bodies, states, scene.bodies[1:], states[1:]):
        axes = axes_of(below[3:7])
        for corner in corners(above, state):
            x, y, z = (dot(axis, minus(corner, below[:3])) for axis in axes)
            if abs(x) <= box.size[0] / 2 + 1e-9 and abs(y) <= box.size[1] / 2 + 1e-9 and z > 0:
                deepest = max(deepest, box.size[2] / 2 - z)
    return deepest


def depth(scene, states):
    """The deepest penetration of one instant, m; 0 where nothing overlaps."""
    deepest = max(plane_depth(scene, body, state) for body, state in zip(scene.bodies, states))
    if len(states) > 1:
        deepest = max(deepest, (sphere_depth if scene.bodies[0].kind == "sphere" else box_depth)(scene, states))
    return max(0.0, deepest)


def measure_creep(scene, frames):
    """The longest way of a body after the first tenth of the run, which is left for the engine to settle."""
    begin = frames[len(frames) // 10][2]
    return max(length(minus(state[:3], first[:3])) for state, first in zip(frames[-1][2], begin))


def measure_penetration(scene, frames):
    return max(depth(scene, states) for _, _, states in frames)


def measure_resting(scene, frames):
    return depth(scene, frames[-1][2])


def measure_gained(scene, frames):
    """The largest rise of the energy from one frame to a later one, in parts of what there is to lose."""
    least, gained = math.inf, 0.0
    for _, _, states in frames:
        now = energy(scene, states)
        least = min(least, now)
        gained = max(gained, now - least)
    return gained / scale_of_energy(scene)


def measure_lost(scene, frames):
    """Energy that is missing at the end, where none may be lost."""
    start, end = (energy(scene, frames[k][2]) for k in (0, -1))
    return max(0.0, start - end) / (start - GRAVITY * scene.bodies[0].size[2] / 2)


def measure_rolling(scene, frames):
    """v(t) of the closed form: μ g slower until 2 v₀ / (7 μ g), then 5/7 v₀, along the first direction."""
    first = scene.bodies[0].velocity
    speed = length(first)
    end = 2 * speed / (7 * scene.mu * GRAVITY)
    worst = 0.0
    for step, _, states in frames:
        t = step * scene.step
        if abs(t - end) < scene.step:
            continue  # the step in which it begins to roll is between the two
        exact = speed - scene.mu * GRAVITY * t if t < end else 5 / 7 * speed
        worst = max(worst, length(minus(states[0][7:10], tuple(exact / speed * c for c in first))))
    return worst


def measure_motion(scene, frames):
    """Kinetic energy that is left at the end, per body."""
    return sum(kinetic(body, state) for body, state in zip(scene.bodies, frames[-1][2])) / len(scene.bodies)


# name: (title, unit, whether it can but grow as a run goes on, how it is measured)
ERRORS = {
    "creep": ("creep", "m", False, measure_creep),
    "penetration": ("deepest penetration", "m", True, measure_penetration),
    "resting": ("penetration at the end", "m", False, measure_resting),
    "gained": ("energy gained", "1", True, measure_gained),
    "lost": ("energy lost", "1", False, measure_lost),
    "rolling": ("velocity error", "m/s", True, measure_rolling),
    "motion": ("motion left", "J/body", False, measure_motion),
}


def measure(scene, frames):
    finite = all(math.isfinite(value) for _, _, states in frames for state in states for value in state)
    return {name: ERRORS[name][3](scene, frames) if finite else math.inf for name in scene.errors}
