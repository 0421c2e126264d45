"""A function for a study: processes that are started anew import it from here."""
import random

from delassus import Simulation, World, half_space, sphere


def height(radius, seed):
    """Where a ball of that radius is after 0.1 s; the seed says from where it falls."""
    if radius <= 0:
        raise ValueError("no such radius")
    world = World()
    world.add_body(half_space(), motion="static")
    ball = world.add_body(sphere(radius), position=(0, 0, 1 + random.Random(seed).random()))
    Simulation(world, step=1e-2).step(10)
    return {"z": float(ball.x[2])}
