"""Exact epsilons of compositions, by the contour integral of docs/spec/mathematics.md 6.1 in Arb's arithmetic.

delta(eps) = 1/(2 pi i) int e^(K(z) - eps z) / (z (z + 1)) dz over Re z = c, K the cumulant of the whole loss. The line
is summed by the trapezoid rule, whose error is known (the aliases of delta); the moments of one mechanism are sums over
a table of losses and masses, refined until they stop changing. Nothing is believed until two settings with different
lines, steps, tables and precisions agree.
"""

import math

import numpy
from flint import acb, acb_mat, arb, ctx
from scipy.special import logsumexp

DIGITS = 22  # printed, and shared by both settings


class Skip(Exception):
    """Too expensive or not convergent: the caller draws other parameters."""


class Setting:
    """How accurate, and where the line is, as a fraction of the saddle point."""

    def __init__(self, place, nats, tail, bits, refine):
        self.place, self.nats, self.tail, self.bits, self.refine = place, nats, tail, bits, refine


SETTINGS = [Setting(0.62, 66.0, 1e-31, 256, 1.0), Setting(0.78, 74.0, 1e-34, 320, 1.19)]
ROUGH = Setting(0.7, 20.0, 1e-10, 160, 1.0)
WORK = 1e8  # multiplications for one line


# ---------------------------------------------------------------- mechanisms


class Smooth:
    """A loss that is an analytic function of normal noise: x ~ N(0, sigma^2), trapezoid rule in x."""

    def __init__(self, sigma, q, direction):
        self.sigma, self.q, self.direction = sigma, q, direction
        self.reach = 1.0  # how far the masses are moved to the right

    def rough(self):
        """(losses, logs of masses under P), in doubles, to choose lines and ranges."""
        s, q = self.sigma, self.q
        x = numpy.arange(-40 * s, 60 * s + self.reach, min(0.05 * s, 0.05 * s * s * 4))
        v = (2 * x - 1) / (2 * s * s)
        with numpy.errstate(over="ignore"):
            loss = numpy.where(v > 30, v + numpy.log(q) + numpy.log1p((1 - q) / q * numpy.exp(-numpy.maximum(v, 0.0))),
                               numpy.log1p(q * numpy.expm1(numpy.minimum(v, 30.0))))
        mass = -x * x / (2 * s * s) - math.log(s * math.sqrt(2 * math.pi)) + math.log(x[1] - x[0])
        self.x = x
        return (loss, mass + loss) if self.direction == "remove" else (-loss, mass)

    def range(self, tilts):
        """Where the tilted masses are above e^-110 of the largest."""
        loss, mass = self.rough()
        weights = [mass + c * loss for c in tilts] + [mass]
        inside = numpy.any([w > w.max() - 110 for w in weights], axis=0)
        return self.x[inside][0], self.x[inside][-1]

    def table(self, level, refine, tilts):
        low, high = self.range(tilts)
        s = self.sigma
        h = arb(min(0.35 * s, 0.7 * s * s) / refine) / (arb(2).sqrt() ** level)
        first, last = math.floor(low / float(h)) - 1, math.ceil(high / float(h)) + 1
        if last - first > 10000:
            raise Skip("inner table")
        sigma, q = arb(s), arb(self.q)
        scale = h / (sigma * (2 * arb.pi()).sqrt())
        losses, masses = [], []
        for j in range(first, last + 1):
            x = h * (j + arb("0.3"))
            ratio = 1 - q + q * ((2 * x - 1) / (2 * sigma * sigma)).exp()
            weight = scale * (-x * x / (2 * sigma * sigma)).exp()
            if self.direction == "remove":
                losses.append(ratio.log())
                masses.append(weight * ratio)
            else:
                losses.append(-ratio.log())
                masses.append(weight)
        return losses, masses


def gauss_legendre(n, bits):
    """Nodes and weights on [-1, 1]."""
    key = (n, bits)
    if key not in gauss_legendre.cache:
        gauss_legendre.cache[key] = [arb.legendre_p_root(n, k, weight=True) for k in range(n)]
    return gauss_legendre.cache[key]


gauss_legendre.cache = {}


class Pieces:
    """A loss with atoms and one stretch of x where it is analytic: panels of Gauss and Legendre."""

    rough_panels = 24

    def rough(self):
        save, ctx.prec = ctx.prec, 64
        losses, masses = self.panels(self.rough_panels, 12)
        ctx.prec = save
        return numpy.array([float(l) for l in losses]), numpy.array([float(m.log()) for m in masses])

    def table(self, level, refine, tilts):
        panels = math.ceil(6 * refine * 2 ** (level / 2))
        if panels > 150:
            raise Skip("inner panels")
        return self.panels(panels, 40)

    def panels(self, panels, points):
        low, high = self.ends()
        width = (high - low) / panels
        losses, masses = [], []
        for panel in range(panels):
            for node, weight in gauss_legendre(points, ctx.prec):
                x = low + width * (panel + (1 + node) / 2)
                for loss, density in self.at(x):
                    losses.append(loss)
                    masses.append(density * weight * width / 2)
        for loss, mass in self.atoms():
            losses.append(loss)
            masses.append(mass)
        return losses, masses


def mixed(q, direction, loss, mass):
    """Poisson sampling of an outcome with this loss and this mass under P: its loss and mass."""
    under_q = mass * (-loss).exp()
    ratio = 1 - arb(q) + arb(q) * loss.exp()
    return (ratio.log(), ratio * under_q) if direction == "remove" else (-ratio.log(), under_q)


class SampledLaplace(Pieces):
    """Poisson-subsampled Laplace noise, t = sensitivity / scale; x is the loss without sampling."""

    def __init__(self, scale, q, direction):
        self.scale, self.q, self.direction = scale, q, direction

    def ends(self):
        return -1 / arb(self.scale), 1 / arb(self.scale)

    def at(self, x):
        return [mixed(self.q, self.direction, x, ((x - 1 / arb(self.scale)) / 2).exp() / 4)]

    def atoms(self):
        t = 1 / arb(self.scale)
        return [mixed(self.q, self.direction, t, arb("0.5")), mixed(self.q, self.direction, -t, (-t).exp() / 2)]


class WithoutReplacement(Pieces):
    """m of n under replace-one with Gaussian noise, q = m / n: Zhu, Dong and Wang 2022, Theorem 11.

    The losses above zero are those of (1 - q) Q + q P against Q, those below their mirror image (e^-l the mass), and
    the rest is at zero.
    """

    def __init__(self, sigma, m, n):
        self.sigma, self.m, self.n = sigma, m, n

    def ends(self):
        half = arb("0.5")
        return half, half + arb(self.sigma) * 16 + 40

    def at(self, x):
        s, q = arb(self.sigma), arb(self.m) / self.n
        under_q = (-x * x / (2 * s * s)).exp() / (s * (2 * arb.pi()).sqrt())
        ratio = 1 - q + q * ((2 * x - 1) / (2 * s * s)).exp()
        loss = ratio.log()
        return [(loss, under_q * ratio), (-loss, under_q)]

    def atoms(self):
        s, q = arb(self.sigma), arb(self.m) / self.n
        tail = lambda mean: ((arb("0.5") - mean) / (s * arb(2).sqrt())).erfc() / 2
        return [(arb(0), 1 - tail(0) - ((1 - q) * tail(0) + q * tail(1)))]


class Gaussian:
    """In closed form."""

    def __init__(self, sigma):
        self.sigma = sigma

    def rough(self):
        m = 1 / self.sigma
        u = numpy.arange(-40, 60, 0.25)
        return m * m / 2 + m * u, -u * u / 2 + math.log(0.25 / math.sqrt(2 * math.pi))

    def moment(self, z):
        return (z * (z + 1) / (2 * arb(self.sigma) ** 2)).exp()


class Laplace:
    """In closed form."""

    def __init__(self, scale):
        self.scale = scale

    def rough(self):
        whole = SampledLaplace(self.scale, 1.0, "remove")
        whole.rough_panels = 2
        return whole.rough()

    def moment(self, z):
        t, w = 1 / arb(self.scale), 2 * z + 1
        up, down = (z * t).exp(), (-(z + 1) * t).exp()
        return (up + down) / 2 + (up - down) / (2 * w)


class RandomizedResponse:
    """In closed form."""

    def __init__(self, p):
        self.p = p

    def rough(self):
        p = self.p
        loss = math.log(p / (1 - p))
        return numpy.array([loss, -loss]), numpy.array([math.log(p), math.log1p(-p)])

    def moment(self, z):
        p = arb(self.p)
        loss = (p / (1 - p)).log()
        return p * (z * loss).exp() + (1 - p) * (-z * loss).exp()


# -------------------------------------------------------------------- lines


class Composition:
    """Counts and mechanisms, and where the saddle point of (eps, delta) is, in doubles."""

    def __init__(self, parts):
        self.parts = parts
        # Tables of one length are stacked: thousands of parts would be slow one by one.
        stacks = {}
        for count, part in parts:
            loss, mass = part.rough()
            stacks.setdefault(len(loss), []).append((count, loss, mass))
        self.roughs = [[numpy.array(column) for column in zip(*stack)] for stack in stacks.values()]

    def cumulant(self, c):
        """K, K', K'' at a real c."""
        total = numpy.zeros(3)
        for count, loss, mass in self.roughs:
            weights = mass + c * loss
            k = logsumexp(weights, axis=1)
            tilted = numpy.exp(weights - k[:, None])
            mean = (tilted * loss).sum(axis=1)
            variance = (tilted * (loss - mean[:, None]) ** 2).sum(axis=1)
            # The table's own mass, not one, so that tiny cumulants stay.
            total += [count @ (k - logsumexp(mass, axis=1)), count @ mean, count @ variance]
        return total

    def exponent(self, c, epsilon):
        """The log of the integrand at a real c."""
        return self.cumulant(c)[0] - epsilon * c - math.log(c) - math.log1p(c)

    def saddle(self, epsilon):
        """Where the integrand is least on the real line."""
        low, high = -25.0, 40.0
        for _ in range(55):
            middle = (low + high) / 2
            c = math.exp(middle)
            if self.cumulant(c)[1] - 1 / c - 1 / (1 + c) < epsilon:
                low = middle
            else:
                high = middle
        return math.exp(low)

    def guess(self, epsilon):
        """About log delta: the saddle point approximation."""
        c = self.saddle(epsilon)
        curvature = self.cumulant(c)[2] + 1 / c**2 + 1 / (1 + c) ** 2
        return self.exponent(c, epsilon) - math.log(2 * math.pi * curvature) / 2

    def guess_epsilon(self, delta):
        """About the epsilon of this delta: the saddle point whose approximation is right."""
        low, high = -25.0, 40.0
        for _ in range(45):
            c = math.exp((low + high) / 2)
            _, mean, variance = self.cumulant(c)
            epsilon = mean - 1 / c - 1 / (1 + c)
            curvature = variance + 1 / c**2 + 1 / (1 + c) ** 2
            if self.exponent(c, epsilon) - math.log(2 * math.pi * curvature) / 2 > math.log(delta):
                low = math.log(c)
            else:
                high = math.log(c)
        return epsilon

    def line(self, setting, epsilon):
        """(c, step, saddle, nats lost): the aliases of delta on either side are below e^-nats of it."""
        star = self.saddle(epsilon)
        top = self.exponent(star, epsilon)
        if not math.isfinite(top):
            raise Skip("no saddle point: epsilon is beyond the largest loss")
        # Below the saddle the aliases from the right fade, but the integrand
        # must not tower above the answer.
        place = setting.place
        while self.exponent(place * star, epsilon) - top > 12.0:
            place = (1 + place) / 2
        c = place * star
        log_delta = self.guess(epsilon) - 8.0
        step, best = 2 * math.pi * c / (setting.nats - log_delta), 0.0
        for factor in numpy.geomspace(1e-4, 30.0, 50):
            beyond = star * (1 + factor)
            bound = self.cumulant(beyond)[0] - beyond * epsilon - log_delta
            if math.isfinite(bound):
                best = max(best, 2 * math.pi * (beyond - c) / (setting.nats + max(bound, 0.0)))
        return c, min(step, best), star, max(0.0, self.exponent(c, epsilon) - top) + 8.0


def powers(first, ratio, count):
    """first, first ratio, first ratio^2, ... without the radii, which would double at every turn in the plane."""
    value, ratio, result = first.mid(), ratio.mid(), []
    for _ in range(count):
        result.append(value)
        value = (value * ratio).mid()
    return result


def moments(part, c, step, first, count, table):
    """E_P[e^(z L)] at z = c + i step j for j in first .. first + count."""
    if table is None:
        return [part.moment(acb(c, step * j)) for j in range(first, first + count)]
    wide = math.isqrt(count - 1) + 1
    tall = -(-count // wide)
    columns, rows = [], []
    for loss, mass in zip(*table):
        columns.append(powers(mass * (acb(c, step * first) * loss).exp(), acb(0, step * wide * loss).exp(), tall))
        rows.extend(powers(acb(1), acb(0, step * loss).exp(), wide))
    n = len(columns)
    product = acb_mat(tall, n, [column[i] for i in range(tall) for column in columns]) * acb_mat(n, wide, rows)
    return product.entries()[:count]


def turned(values, turn):
    """sum of values_j turn^j."""
    wide = math.isqrt(len(values) - 1) + 1
    tall = -(-len(values) // wide)
    padded = values + [acb(0)] * (tall * wide - len(values))
    inner = acb_mat(tall, wide, padded) * acb_mat(wide, 1, powers(acb(1), turn, wide))
    return (acb_mat(1, tall, powers(acb(1), turn**wide, tall)) * inner)[0, 0]


class Line:
    """The moments of a composition on one line, from which delta of every epsilon near follows."""

    def __init__(self, composition, setting, epsilon):
        ctx.prec = setting.bits
        c, step, star, lost = composition.line(setting, epsilon)
        self.refine, self.tail = setting.refine, setting.tail * math.exp(-lost)
        self.c, self.step, self.tilts = arb(c), arb(step), (c, star)
        self.nodes, self.values, self.ladders, self.work = [], [], {}, 0
        block = 64
        while True:
            first = len(self.values)
            total = [acb(1)] * block
            for index, (count, part) in enumerate(composition.parts):
                table = None if hasattr(part, "moment") else self.table(part, index, first + block, count)
                for j, moment in enumerate(moments(part, self.c, self.step, first, block, table)):
                    total[j] *= moment**count
            for j, moment in enumerate(total):
                z = acb(self.c, self.step * (first + j))
                self.nodes.append(z)
                self.values.append((moment / (z * (z + 1))).mid())
            largest = max(abs(value).mid() for value in self.values[first:]) / abs(self.values[0])
            if not largest.is_finite():
                raise Skip("infinite")
            if largest < self.tail:
                break
            block = min(2 * block, 40000) if first else block
            if len(self.values) > 100000:
                raise Skip("nodes")

    def table(self, part, index, last, count):
        """The first table of the ladder that the next one agrees with at node `last`."""
        level, tables, faded = self.ladders.get(index, (0, {}, 1.0))
        z = acb(self.c, self.step * last)
        while True:
            for k in (level, level + 1):
                if k not in tables:
                    tables[k] = part.table(k, self.refine, self.tilts)
            self.work += len(tables[level][0]) * (last - len(self.values)) + 100 * len(tables[level + 1][0])
            if self.work > WORK:
                raise Skip("work")
            coarse, fine = (sum((m * (z * l).exp() for l, m in zip(*tables[k])), acb(0)) for k in (level, level + 1))
            whole = sum((m * (self.c * l).exp() for l, m in zip(*tables[level])), arb(0))
            # x^count changes by count x^(count - 1) dx: what is small may be less accurate.
            error = float(abs(coarse - fine) / whole) + 1e-300
            logs = math.log(count * error) + (count - 1) * math.log(min(1.0, faded + error))
            if logs < math.log(self.tail):
                self.ladders[index] = (level, tables, float(abs(fine) / whole))
                return tables[level]
            tables.pop(level)
            level += 1

    def delta(self, epsilon):
        """delta and its derivative, at an epsilon near the one the line was made for."""
        turn = acb(0, -(self.step * epsilon)).exp()
        first, scale = self.values[0], self.step / arb.pi() * (-self.c * epsilon).exp()
        whole = scale * (turned(self.values, turn) - first / 2).real
        slopes = [z * g for z, g in zip(self.nodes, self.values)]
        return whole, -scale * (turned(slopes, turn) - slopes[0] / 2).real


def middle(x):
    """Drop the radius, which grows in Newton's iteration though the error does not."""
    return arb(x.mid())


def solve(composition, setting, delta, epsilon):
    """epsilon of this delta, from one near; may be negative."""
    line = Line(composition, setting, epsilon)
    epsilon, target = arb(epsilon), arb(delta).log()
    for _ in range(12):
        value, slope = line.delta(epsilon)
        if not value > 0:
            raise Skip("lost")
        change = middle((value.log() - target) * value / slope)
        epsilon = middle(epsilon - change)
        if abs(float(change)) < 1e-29 * abs(float(epsilon)):
            return epsilon
    raise Skip("Newton")


def near(composition, delta):
    """epsilon of this delta to a few digits: secants with a new line for every step."""
    epsilon = composition.guess_epsilon(delta)
    low, high = -math.inf, math.inf
    for _ in range(30):
        value, slope = Line(composition, ROUGH, epsilon).delta(arb(epsilon))
        if not value > 0:
            raise Skip("lost")
        excess = float(value.log()) - math.log(delta)
        change = -excess * float(value / slope)
        low, high = (epsilon, high) if excess > 0 else (low, epsilon)
        if abs(excess) < 1e-3:
            return epsilon + change
        epsilon = epsilon + change if low < epsilon + change < high else (low + high) / 2
    raise Skip("near")


def text(x, digits=DIGITS):
    return arb(x.mid()).str(digits, radius=False)


def agreed(low, high, digits=DIGITS):
    """The text of a value on which two settings agree."""
    if not float(abs(low.mid() - high.mid())) <= 10.0**-digits * abs(float(high)):
        raise Skip(f"settings differ: {text(low, 30)} {text(high, 30)}")
    return text(high)


def epsilon_of(parts, delta):
    """The exact epsilon of a composition, as text; "0" where delta(0) <= delta."""
    composition = Composition(parts)
    if Line(composition, ROUGH, 0.0).delta(arb(0))[0] * (1 + arb("1e-6")) < arb(delta):
        return "0"
    rough = near(composition, delta)
    values = [solve(composition, setting, delta, rough) for setting in SETTINGS]
    return agreed(*values) if values[1] > 0 else "0"


def delta_of(parts, epsilon):
    """The exact delta of a composition at an epsilon, as text."""
    composition = Composition(parts)
    return agreed(*(Line(composition, setting, epsilon).delta(arb(epsilon))[0] for setting in SETTINGS))
