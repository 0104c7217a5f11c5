"""Privacy profiles that are finite sums or closed forms, in Arb's arithmetic: no quadrature takes part."""

from flint import arb, arb_poly, ctx, fmpz


def gaussian(m, epsilon):
    """delta of Gaussian noise, m = sensitivity / sigma."""
    root = arb(2).sqrt()
    a, b = (epsilon / m - m / 2) / root, (epsilon / m + m / 2) / root
    return (a.erfc() - epsilon.exp() * b.erfc()) / 2


def laplace(t, epsilon):
    """delta of Laplace noise, t = sensitivity / scale, for an epsilon in [-t, t] or beyond."""
    if epsilon >= t:
        return arb(0)
    if epsilon <= -t:
        return 1 - epsilon.exp()
    return 1 - ((epsilon - t) / 2).exp()


def remove(base, q, epsilon):
    """delta of (1 - q) Q + q P against Q, from that of P against Q."""
    if epsilon.exp() <= 1 - q:
        return 1 - epsilon.exp()
    return q * base((1 + (epsilon.exp() - 1) / q).log())


def add(base, q, epsilon):
    """delta of Q against (1 - q) Q + q P, from that of Q against P, the same for symmetric pairs."""
    rest = 1 - (1 - q) * epsilon.exp()
    if rest <= 0:
        return arb(0)
    return rest * base((q * epsilon.exp() / rest).log())


def inverse(profile, delta, high=None):
    """The epsilon >= 0 where a decreasing profile equals delta: bisection of the logarithm, then secants."""
    delta = arb(delta)
    if profile(arb(0)) <= delta:
        return None
    low, top = arb(0), arb(1e-9) if high is None else high
    while high is None and profile(top) > delta:
        low, top = top, 2 * top
    for _ in range(ctx.prec):
        middle = arb(((low + top) / 2).mid())
        if profile(middle) > delta:
            low = middle
        else:
            top = middle
    return arb(((low + top) / 2).mid())


def two_losses(count, first, second, delta):
    """epsilon of `count` mechanisms with two outcomes each, (loss, mass under P) twice, the larger loss first.

    delta = A - e^eps B between two neighbouring losses, A and B the masses of the larger losses under P and Q.
    """
    (high, p), (low, _) = first, second
    p_low = 1 - p
    a = b = arb(0)
    mass = p**count
    for i in range(count, -1, -1):
        loss = i * high + (count - i) * low
        a += mass
        b += mass * (-loss).exp()
        if a > delta:
            epsilon = ((a - delta) / b).log()
            if i == 0 or epsilon >= (i - 1) * high + (count - i + 1) * low:
                return epsilon if epsilon > 0 else None
        mass = mass * i * p_low / ((count - i + 1) * p)
    return None


def laplaces(count, t, epsilon):
    """delta of `count` Laplace mechanisms, exactly.

    With w = z + 1/2 the moment of one is e^(zt) (1/2 + 1/(4w)) + e^(-t-zt) (1/2 - 1/(4w)). Every product of these is a
    rational function times e^(uz), u = (2i - count) t - eps; where u > 0 its integral is the residue at w = 0, that is
    a coefficient of a polynomial times e^(uw), and one more for i = count, at z = 0.
    """
    total = arb(0)
    binomial = arb(1)
    plus, minus = arb_poly([1, 2]), arb_poly([-1, 2])
    for i in range(count, -1, -1):
        u = (2 * i - count) * t - epsilon
        if not u > 0:
            break
        exponential, term = [], arb(1)
        for n in range(count):
            exponential.append(term)
            term = term * u / (n + 1)
        if i == count:
            # 1 / (2w - 1) = -(1 + 2w + 4w^2 + ...)
            rest = plus ** (count - 1) * arb_poly([-(arb(2) ** n) for n in range(count)])
        else:
            rest = plus ** (i - 1) * minus ** (count - i - 1)
        coefficients = rest.coeffs()
        residue = sum((c * exponential[count - 1 - n] for n, c in enumerate(coefficients) if n < count), arb(0))
        value = 4 * residue * (-u / 2).exp() / arb(4) ** count
        if i == count:
            value += 1
        total += binomial * (-(count - i) * t).exp() * value
        binomial = binomial * i / (count - i + 1)
    return total


def shuffle(epsilon0, n, chance, epsilon):
    """delta of the pair that n shuffled epsilon0-randomizers are compared with (docs/spec/mathematics.md 2.15).

    C ~ Bin(n - 1, chance), A ~ Bin(C, 1/2), D ~ Bernoulli(e^e0 / (e^e0 + 1)): (A + D, C - A + 1 - D) against the same
    with 1 - D. Given C, the outcomes (a, b) with P > e^eps Q are those with a large a.
    """
    truth = epsilon0.exp() / (1 + epsilon0.exp())
    lie, factor = 1 - truth, epsilon.exp()
    # With c! 2^-c / (a! b!) as the weight, P = weight (truth a + lie b) and Q = weight (truth b + lie a).
    gain, loss = truth - factor * lie, factor * truth - lie
    if not gain > 0:
        return arb(0)
    total, mass, tiny = arb(0), (1 - chance) ** (n - 1), arb(2) ** -ctx.prec
    for c in range(n):
        if mass > arb("1e-120"):
            first = max(0, int(float((c + 1) * loss / (gain + loss))) - 1)
            inner, weight = arb(0), arb(fmpz.bin_uiui(c + 1, first)) / (c + 1) / arb(2) ** c
            for a in range(first, c + 2):
                excess = weight * (gain * a - loss * (c + 1 - a))
                if excess > 0:
                    inner += excess
                    if excess < tiny * inner:
                        break
                weight = weight * (c + 1 - a) / (a + 1)
            total += mass * inner
        if c < n - 1:
            mass = mass * (n - 1 - c) / (c + 1) * chance / (1 - chance)
    return total
