"""A bar on the terminal for runs."""
import sys
import time


class Progress:
    """Draws at most ten times a second, and nothing where the output is no terminal unless told to."""

    def __init__(self, shown, until):
        self.stream = sys.stderr
        self.shown = self.stream.isatty() if shown is None else bool(shown)
        self.until, self.begin, self.last, self.drawn = until, time.monotonic(), 0.0, False

    def show(self, t, report):
        now = time.monotonic()
        if not self.shown or (now - self.last < 0.1 and t < self.until):
            return
        self.last, self.drawn = now, True
        share = min(max(t / self.until if self.until > 0 else 1.0, 0.0), 1.0)
        left = (now - self.begin) * (1 - share) / share if share > 0 else float("inf")
        bar = "#" * round(30 * share)
        self.stream.write(f"\r[{bar:30}] t = {t:.4g} of {self.until:.4g} s, {report.contacts} contacts, {left:.0f} s left  ")
        self.stream.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.drawn:
            self.stream.write("\n")
            self.stream.flush()
