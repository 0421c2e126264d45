"""Curves over two logarithmic axes as SVG."""
import html
import math

WIDTH, HEIGHT, LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 760, 380, 70, 40, 400, 290
COLOURS = {"delassus": "#c0392b", "ode": "#2471a3", "bullet": "#1e8449"}
DASHES = ("none", "6 3", "2 3", "8 3 2 3")


def decades(values):
    return math.floor(math.log10(min(values))), max(math.ceil(math.log10(max(values))), math.floor(math.log10(min(values))) + 1)


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(words)}</text>'


def grid(axis, first, last, place):
    """Lines and labels at powers of ten."""
    lines = []
    for power in range(first, last + 1):
        at = place(10.0**power)
        if axis == "x":
            lines += [f'<path d="M{at:.1f} {TOP}v{PLOT_HEIGHT}" stroke="#ddd"/>', text(at, TOP + PLOT_HEIGHT + 16, f"1e{power}")]
        else:
            lines += [f'<path d="M{LEFT} {at:.1f}h{PLOT_WIDTH}" stroke="#ddd"/>', text(LEFT - 6, at + 4, f"1e{power}", "end")]
    return lines


def loglog(title, x_title, y_title, curves):
    """curves: {(engine, label): [(x, y)]}, all positive."""
    points = [point for curve in curves.values() for point in curve]
    (x0, x1), (y0, y1) = decades([x for x, _ in points]), decades([y for _, y in points])

    def across(x):
        return LEFT + PLOT_WIDTH * (math.log10(x) - x0) / (x1 - x0)

    def down(y):
        return TOP + PLOT_HEIGHT * (y1 - math.log10(y)) / (y1 - y0)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="sans-serif" font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             text(LEFT, 22, title, "start", ' font-size="14"'), *grid("x", x0, x1, across), *grid("y", y0, y1, down),
             text(LEFT + PLOT_WIDTH / 2, HEIGHT - 12, x_title),
             text(16, TOP + PLOT_HEIGHT / 2, y_title, more=f' transform="rotate(-90 16 {TOP + PLOT_HEIGHT / 2})"')]
    used = {}
    for k, ((engine, label), curve) in enumerate(curves.items()):
        used[engine] = used.get(engine, -1) + 1
        style = f'stroke="{COLOURS.get(engine, "#555")}" stroke-width="1.6" stroke-dasharray="{DASHES[used[engine] % len(DASHES)]}"'
        path = "L".join(f"{across(x):.1f} {down(y):.1f}" for x, y in curve)
        lines.append(f'<path d="M{path}" fill="none" {style}/>')
        lines += [f'<circle cx="{across(x):.1f}" cy="{down(y):.1f}" r="2.5" fill="{COLOURS.get(engine, "#555")}"/>' for x, y in curve]
        at = TOP + 10 + 18 * k
        lines += [f'<path d="M{LEFT + PLOT_WIDTH + 16} {at}h26" {style}/>', text(LEFT + PLOT_WIDTH + 48, at + 4, label, "start")]
    return "\n".join(lines) + "\n</svg>\n"
