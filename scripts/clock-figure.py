"""Draws docs/clock.svg and docs/clock-tree.svg: the Gaussian clock, and why a numerical accountant is not a filter.

    python3 scripts/clock-figure.py

Prices of Laplace noise are those of docs/spec/mathematics.md 4.9, computed here in doubles.
"""

from math import erf, erfc, exp, log, sqrt
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"
BLUE, ORANGE, GREEN, GREY, INK = "#4a7ebb", "#e08e45", "#5b9f68", "#e9edf2", "#222"
WIDTH = 700


def normal(x):
    return erfc(-x / sqrt(2)) / 2


def delta(epsilon, v):
    root = sqrt(v)
    return normal(-epsilon / root + root / 2) - exp(epsilon) * normal(-epsilon / root - root / 2)


def bisected(holds, low, high):
    """The largest place at which `holds`, which holds at low only."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def laplace_delta(loss, left):
    """The total variation of Laplace noise with this largest loss and Gaussian noise of the variance `left`."""
    near, root = loss / sqrt(left), sqrt(left)
    tails = exp(loss / 2) * normal(near + root / 2) - exp(loss / 2) * normal(-near - root / 2)
    return exp(-loss / 2) * (tails - exp(-left / 8) * (normal(near) - normal(-near)))


def laplace_price(loss, left):
    """The price of Laplace noise with so much left after it."""
    variation = laplace_delta(loss, left)
    return bisected(lambda u: erf(sqrt((left + u) / 8)) < variation, 0.0, 10 * loss**2)


def text(x, y, words, size=12, anchor="middle", weight="normal", fill=INK):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
            f'fill="{fill}">{words}</text>')


def box(x, y, width, height, fill, stroke="#fff"):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" fill="{fill}" stroke="{stroke}"/>'


def line(x1, y1, x2, y2, stroke="#777"):
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{stroke}" fill="none"/>'


def svg(name, height, title, description, parts):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="{FONT}" fill="{INK}">\n<title>{title}</title>\n'
            f'<desc>{description}</desc>\n<rect width="{WIDTH}" height="{height}" fill="#fff"/>')
    (DOCS / name).write_text("\n".join([head, *parts, "</svg>"]) + "\n")


def clock():
    budget = bisected(lambda v: delta(1.0, v) <= 0.72e-6, 1e-3, 1.0)
    left_edge, width = 30, 640
    scale = width / budget
    charges = [("gaussian(10)", BLUE, lambda left: 0.01), ("laplace(20)", ORANGE, None), ("gaussian(10)", BLUE, lambda left: 0.01),
               ("laplace(10)", ORANGE, None), ("gaussian(20)", BLUE, lambda left: 0.0025)]
    parts = [text(WIDTH / 2, 26, "A budget (1, 1e-6) is variance on a clock, and each charge takes a slice", 15, weight="600")]
    y, left = 62, budget
    parts.append(text(left_edge, y - 10, f"new account: {budget:.4f}", anchor="start"))
    parts.append(box(left_edge, y, width, 26, GREEN))
    y += 62
    parts.append(text(left_edge, y - 10, "after five charges", anchor="start"))
    x = left_edge
    for words, colour, price in charges:
        if price is None:
            loss = 1 / float(words[8:-1])
            taken = bisected(lambda u: u < laplace_price(loss, left - u), 0.0, 1.6 * loss**2)
        else:
            taken = price(left)
        parts.append(box(x, y, taken * scale, 26, colour))
        middle = x + taken * scale / 2
        lower = words in ("laplace(20)", "gaussian(20)")
        parts.append(line(middle, y + 26, middle, y + (58 if lower else 32)))
        parts.append(text(middle, y + (72 if lower else 46), words, 11))
        parts.append(text(middle, y + (86 if lower else 60), f"{taken:.5f}", 11, fill="#555"))
        x += taken * scale
        left -= taken
    parts.append(box(x, y, left * scale, 26, GREEN))
    parts.append(text(x + left * scale / 2, y + 18, f"left {left:.4f}", 12, fill="#fff"))
    y += 136
    parts.append(text(WIDTH / 2, y - 16, "The price of one laplace(20) grows a little as the clock runs out", 13, weight="600"))
    for i, remainder in enumerate((0.05, 0.01, 0.0025, 0.0005)):
        price = laplace_price(0.05, remainder)
        parts.append(text(210, y + 15 + 24 * i, f"with {remainder:g} left after it", 12, "end"))
        parts.append(box(220, y + 24 * i + 2, price * 80_000, 18, ORANGE))
        parts.append(text(226 + price * 80_000, y + 16 + 24 * i, f"{price:.5f}", 12, "start"))
    svg("clock.svg", y + 108, "The Gaussian clock", "A bar of variance from which charges take slices, and the price of Laplace "
        "noise at four remainders.", parts)


def tree():
    parts = [text(WIDTH / 2, 26, "Why a numerical accountant is not a filter", 15, weight="600")]
    node = lambda x, y, first, second, colour: [
        f'<rect x="{x - 105}" y="{y}" width="210" height="42" rx="6" fill="{colour}"/>',
        text(x, y + 18, first, 12, weight="600", fill="#fff"), text(x, y + 34, second, 11, fill="#fff")]
    parts += [line(350, 92, 180, 140), line(350, 92, 520, 140)]
    parts += node(350, 50, "a little Gaussian noise", "a tenth of the budget", BLUE)
    parts.append(text(240, 112, "after one answer", 11, "end", fill="#555"))
    parts.append(text(460, 112, "after the other", 11, "start", fill="#555"))
    parts += node(180, 140, "Gaussian noise", "each path alone: exactly δ", BLUE)
    parts += node(520, 140, "randomized response", "each path alone: exactly δ", ORANGE)
    parts.append(text(WIDTH / 2, 214, "Fixed in advance, either second step completes (ε, δ) exactly.", 12))
    parts.append(text(WIDTH / 2, 232, "The analyst picks the step after the answer, the worse one each time: together 1.99 δ.", 12, weight="600"))
    parts.append(text(WIDTH / 2, 250, "On the clock the second steps are not equally dear, and the tree stays within δ.", 12))
    svg("clock-tree.svg", 270, "A tree that breaks the natural filter", "A first answer decides between two second steps, each of which "
        "would complete the budget exactly.", parts)


clock()
tree()
