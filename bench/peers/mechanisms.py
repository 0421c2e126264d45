"""Mechanisms that Delassus, ODE and Bullet can hold, and how far a run of one is from the motion.

The chain and the vehicle are judged by the distance of all bodies from a reference at the same instants. The heap of ragdolls is
chaotic: it is judged by what no run may do, and by where the mass ends up.
"""
import math

from scenes import Body, Joint, Scene, axes_of, dot, energy, length, minus, plus

FRAMES = 20  # of every run, at the same instants whatever the step


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


# ---- the mechanisms ----------------------------------------------------------------------------------------


def make_chain(step=0.01, seconds=1.0, count=100):
    """Links of 0.1 m hang on each other by balls; released level, the whole turning about its upright."""
    spin, links, joints = (0, 0, 1.0), [], []
    for k in range(count):
        place = (0.1 * (k + 0.5), 0, 0)
        links.append(Body("box", (0.09, 0.03, 0.02), place, velocity=cross(spin, place), mass=0.1, spin=spin))
        joints.append(Joint("ball", (k - 1, k), (0.1 * k, 0, 0)))
    return Scene("chain", f"a chain of {count} links swings down from level", links, [], 0.3, 0, step, seconds, 1, ("motion", "gap"),
                 joints)


# Parts of a ragdoll: name, kind, edges, place, mass; and its joints: kind, parts, point, axis, limits.
PARTS = [("trunk", "box", (0.36, 0.22, 0.60), (0, 0, 0), 30), ("head", "sphere", (0.24, 0.24, 0.24), (0, 0, 0.46), 5)]
JOINTS = [("ball", "trunk", "head", (0, 0, 0.32), (1, 0, 0), (0, 0))]
for _side, _sign in (("left", -1), ("right", 1)):
    PARTS += [(f"{_side} arm", "box", (0.30, 0.10, 0.10), (_sign * 0.36, 0, 0.22), 2.5),
              (f"{_side} forearm", "box", (0.30, 0.08, 0.08), (_sign * 0.68, 0, 0.22), 1.5),
              (f"{_side} thigh", "box", (0.15, 0.15, 0.42), (_sign * 0.10, 0, -0.54), 8),
              (f"{_side} shin", "box", (0.12, 0.12, 0.42), (_sign * 0.10, 0, -0.98), 4)]
    JOINTS += [("ball", "trunk", f"{_side} arm", (_sign * 0.20, 0, 0.22), (1, 0, 0), (0, 0)),
               ("hinge", f"{_side} arm", f"{_side} forearm", (_sign * 0.52, 0, 0.22), (0, 0, _sign), (-0.1, 2.4)),
               ("ball", "trunk", f"{_side} thigh", (_sign * 0.10, 0, -0.32), (1, 0, 0), (0, 0)),
               ("hinge", f"{_side} thigh", f"{_side} shin", (_sign * 0.10, 0, -0.76), (1, 0, 0), (-0.1, 2.4))]


def turned(q, point):
    x, y, z = axes_of(q)
    return tuple(point[0] * a + point[1] * b + point[2] * c for a, b, c in zip(x, y, z))


def make_ragdolls(step=0.005, seconds=2.0, count=50):
    """In layers of ten above each other, each turned by another angle."""
    bodies, joints = [], []
    for k in range(count):
        angle, lean = 0.7 * k, 1.2 + 0.3 * (k % 3)
        about = (math.cos(angle), math.sin(angle), 0)
        turn = (math.cos(lean / 2), *(math.sin(lean / 2) * c for c in about))
        place = (2.2 * (k % 5 - 2) + 0.2 * math.sin(3 * k), 2.4 * (k // 5 % 2) + 0.2 * math.cos(5 * k), 1.4 + 1.7 * (k // 10))
        at = {name: len(bodies) + i for i, (name, *_) in enumerate(PARTS)}
        for _, kind, edges, offset, mass in PARTS:
            bodies.append(Body(kind, edges, plus(place, turned(turn, offset)), turn, mass=mass))
        for kind, a, b, point, axis, limits in JOINTS:
            joints.append(Joint(kind, (at[a], at[b]), plus(place, turned(turn, point)), turned(turn, axis), limits))
    return Scene("ragdolls", f"{count} ragdolls of ten parts fall onto a floor", bodies, [((0, 0, 1), 0)], 0.5, 0, step, seconds, 1,
                 ("gap", "penetration", "gained", "height", "spread"), joints)


def make_vehicle(step=0.01, seconds=2.0):
    """Four wheels on sprung sliders, the front ones askew, the rear ones driven; the left ones meet a bump."""
    radius, wheelbase, track, steer = 0.3, 2.0, 1.2, 0.15
    bodies = [Body("box", (2.4, 0.5, 0.3), (0, 0, 0.65), mass=200)]
    joints = []
    for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        place = (x * wheelbase / 2, y * track / 2, radius)
        inner = plus(place, (0, -0.1 * y, 0))
        carrier = len(bodies)
        angle = 0
        if x > 0:  # both point to the same middle of the curve
            angle = math.atan(wheelbase / (wheelbase / math.tan(steer) - y * track / 2))
        bodies.append(Body("box", (0.1, 0.1, 0.1), inner, mass=10))
        bodies.append(Body("sphere", (2 * radius,) * 3, place, mass=15))
        joints.append(Joint("slider", (0, carrier), inner, (0, 0, 1), spring=(2e4, 1.5e3)))
        motor = (12.0, 60.0) if x < 0 else (0, 0)
        joints.append(Joint("hinge", (carrier, carrier + 1), place, (-math.sin(angle), math.cos(angle), 0), motor=motor))
    bodies.append(Body("sphere", (8, 8, 8), (2.4, 0.75, -3.94), mass=0))
    return Scene("vehicle", "a vehicle on four sprung wheels drives a curve over a bump", bodies, [((0, 0, 1), 0)], 0.8, 0, step,
                 seconds, 1, ("motion", "gap", "penetration"), joints)


MAKERS = {"chain": make_chain, "ragdolls": make_ragdolls, "vehicle": make_vehicle}


# ---- what is wrong with a run ------------------------------------------------------------------------------


def from_body(body, point):
    """A point of the world in the frame of a body as it stands at the start."""
    return tuple(dot(axis, minus(point, body.place)) for axis in axes_of(body.turn))


def in_world(state, point):
    return plus(state[:3], turned(state[3:7], point))


def joint_gap(scene, states):
    """The largest distance of the two points of a joint, of a slider off its axis, m."""
    worst = 0.0
    for joint in scene.joints:
        ends, axis = [], None
        for body in joint.bodies:
            if body < 0:
                ends.append(joint.point)
                axis = axis or joint.axis
                continue
            ends.append(in_world(states[body], from_body(scene.bodies[body], joint.point)))
            local = from_body(scene.bodies[body], plus(scene.bodies[body].place, joint.axis))
            axis = axis or turned(states[body][3:7], local)
        gap = minus(ends[1], ends[0])
        if joint.kind == "slider":
            gap = plus(gap, axis, -dot(gap, axis))
        worst = max(worst, length(gap))
    return worst


def distance_to(scene, states, reference):
    """Root mean square over the bodies that move, m."""
    moving = [k for k, body in enumerate(scene.bodies) if body.mass > 0]
    return math.sqrt(sum(length(minus(states[k][:3], reference[k][:3]))**2 for k in moving) / len(moving))


def moments(scene, states):
    """Height of the mass centre, and root mean square distance of the mass from the upright through it, m."""
    mass = sum(body.mass for body in scene.bodies)
    centre = [sum(body.mass * state[k] for body, state in zip(scene.bodies, states)) / mass for k in range(3)]
    square = sum(body.mass * ((state[0] - centre[0])**2 + (state[1] - centre[1])**2)
                 for body, state in zip(scene.bodies, states)) / mass
    return centre[2], math.sqrt(square)


# ---- penetration -------------------------------------------------------------------------------------------


def reach_of(body):
    return body.size[0] / 2 if body.kind == "sphere" else length(body.size) / 2


def extent(body, axes, along):
    """Half the width of a body along a direction."""
    if body.kind == "sphere":
        return body.size[0] / 2
    return sum(edge / 2 * abs(dot(axis, along)) for edge, axis in zip(body.size, axes))


def sphere_box_depth(sphere, at, box, state, axes):
    local = tuple(dot(axis, minus(at[:3], state[:3])) for axis in axes)
    nearest = tuple(max(-edge / 2, min(edge / 2, c)) for edge, c in zip(box.size, local))
    outside = length(minus(local, nearest))
    if outside > 0:
        return sphere.size[0] / 2 - outside
    return sphere.size[0] / 2 + min(edge / 2 - abs(c) for edge, c in zip(box.size, local))


def pair_depth(pair, states, axes, least):
    """How deep two bodies are in each other, or some number up to `least` where that is less: boxes by their separating axes."""
    (a, b), (p, q), (A, B) = pair, states, axes
    way = minus(q[:3], p[:3])
    if a.kind == b.kind == "sphere":
        return (a.size[0] + b.size[0]) / 2 - length(way)
    if a.kind != b.kind:
        return sphere_box_depth(b, q, a, p, A) if a.kind == "box" else sphere_box_depth(a, p, b, q, B)
    deepest = math.inf
    for direction in (*A, *B, *(cross(x, y) for x in A for y in B)):
        size = length(direction)
        if size < 1e-6:
            continue  # parallel edges
        along = tuple(c / size for c in direction)
        deepest = min(deepest, extent(a, A, along) + extent(b, B, along) - abs(dot(way, along)))
        if deepest <= least:
            break
    return deepest


def near_pairs(scene, states):
    """Pairs of bodies whose spheres meet, by cells as wide as the largest that moves; bodies of a joint do not count."""
    joined = {frozenset(joint.bodies) for joint in scene.joints}
    reach = [reach_of(body) for body in scene.bodies]
    still = [k for k, body in enumerate(scene.bodies) if body.mass == 0]
    width = 2 * max(reach[k] for k, body in enumerate(scene.bodies) if body.mass > 0)
    cells = {}
    for k, state in enumerate(states):
        if scene.bodies[k].mass == 0:
            continue
        cell = tuple(math.floor(c / width) for c in state[:3])
        around = [i for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)
                  for i in cells.get((cell[0] + a, cell[1] + b, cell[2] + c), ())]
        for i in around + still:
            if length(minus(states[i][:3], state[:3])) < reach[i] + reach[k] and frozenset((i, k)) not in joined:
                yield i, k
        cells.setdefault(cell, []).append(k)


def depth(scene, states):
    """The deepest penetration of one instant, m."""
    axes, deepest = [axes_of(state[3:7]) for state in states], 0.0
    for normal, offset in scene.planes:
        for body, state, own in zip(scene.bodies, states, axes):
            if body.mass > 0:
                deepest = max(deepest, offset - dot(normal, state[:3]) + extent(body, own, normal))
    for i, k in near_pairs(scene, states):
        deepest = max(deepest, pair_depth((scene.bodies[i], scene.bodies[k]), (states[i], states[k]), (axes[i], axes[k]), deepest))
    return deepest


# ---- all of it ---------------------------------------------------------------------------------------------


def energy_gained(scene, frames):
    """The largest rise of the energy from one frame to a later one, in parts of the fall to the end."""
    least, gained, energies = math.inf, 0.0, [energy(scene, states) for _, _, states in frames]
    for now in energies:
        least = min(least, now)
        gained = max(gained, now - least)
    return gained / (energies[0] - min(energies))


# name: (title, unit, whether it is an error that times can be compared at)
ERRORS = {"motion": ("distance from the reference", "m", True), "gap": ("largest gap of a joint", "m", True),
          "penetration": ("deepest penetration", "m", True), "gained": ("energy gained", "1", False),
          "height": ("height of the mass centre at the end", "m", False), "spread": ("spread of the mass at the end", "m", False)}


def measure(scene, frames, reference):
    """reference: frames at the same instants, or None where only itself is to be had."""
    states = [frame[2] for frame in frames]
    if not all(math.isfinite(value) for frame in states for state in frame for value in state):
        return dict.fromkeys(scene.errors, math.inf)
    height, spread = moments(scene, states[-1])
    found = {"gap": max(joint_gap(scene, frame) for frame in states), "height": height, "spread": spread}
    if "motion" in scene.errors and reference:
        found["motion"] = max(distance_to(scene, frame, other[2]) for frame, other in zip(states, reference))
    if "penetration" in scene.errors:
        found["penetration"] = max(depth(scene, frame) for frame in states)
    if "gained" in scene.errors:
        found["gained"] = energy_gained(scene, frames)
    return {name: found[name] for name in scene.errors if name in found}
