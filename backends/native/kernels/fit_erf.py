#!/usr/bin/env python3
"""Finds the coefficients of half_erf() in kernels.inc.h: erf(x / sqrt 2) / 2 = x P(x^2) / Q(x^2) for |x| <= 5.9.

The rational function that is nearest by its largest relative error, by weighted least squares whose weights follow the
error (Lawson, "Contributions to the theory of linear least maximum approximations", 1961). Prints the coefficients,
highest power first, and the largest errors when evaluated in f32. Needs numpy.

usage: fit_erf.py [NUMERATOR_DEGREE DENOMINATOR_DEGREE]
"""

import math
import sys

import numpy as np

END = 5.9


def fit(u, f, m, n):
    """P of degree m and Q of degree n, Q's lowest coefficient 1, lowest powers first."""
    weight = np.ones_like(u)
    q_before = np.ones_like(u)
    best = None
    v = u / u.max()
    for _ in range(400):
        # (P - f Q) / (f Q_before), weighted
        rows = np.sqrt(weight) / (f * q_before)
        a = np.hstack([np.vander(v, m + 1, increasing=True), -f[:, None] * np.vander(v, n + 1, increasing=True)[:, 1:]])
        c, *_ = np.linalg.lstsq(a * rows[:, None], f * rows, rcond=None)
        p, q = c[: m + 1], np.concatenate([[1.0], c[m + 1 :]])
        q_before = np.polynomial.polynomial.polyval(v, q)
        error = np.abs(np.polynomial.polynomial.polyval(v, p) / (q_before * f) - 1)
        if best is None or error.max() < best[0]:
            best = error.max(), p, q
        weight = weight * (error / error.max() + 1e-3)
        weight /= weight.mean()
    _, p, q = best
    scale = u.max()
    return p / scale ** np.arange(m + 1), q / scale ** np.arange(n + 1)


def main():
    m, n = (int(a) for a in sys.argv[1:3]) if len(sys.argv) > 2 else (5, 5)
    x = END * (1 - np.cos(np.linspace(0.002, math.pi, 6000))) / 2
    f = np.array([math.erf(t / math.sqrt(2)) / 2 / t for t in x])
    p, q = fit(x * x, f, m, n)
    p, q = p / q[0], q / q[0]
    for name, c in ("numerator", p), ("denominator", q):
        print(f"{name}:", ", ".join(f"{np.float32(v):.9e}F" for v in c[::-1]))
    xs = np.linspace(1e-3, END, 200_001).astype(np.float32)
    s = xs * xs
    num = np.zeros_like(xs)
    den = np.zeros_like(xs)
    for c in p[::-1].astype(np.float32):
        num = num * s + c
    for c in q[::-1].astype(np.float32):
        den = den * s + c
    got = (xs * (num / den)).astype(np.float64)
    want = np.array([math.erf(float(t) / math.sqrt(2)) / 2 for t in xs])
    gelu = xs * 0.5 + xs * got.astype(np.float32)
    gelu_low = -xs * 0.5 + xs * got.astype(np.float32)
    print(f"largest error in f32: {np.abs(got - want).max():.2e}, relative {np.abs(got / want - 1).max():.2e}")
    print(f"of gelu: {np.abs(gelu - xs.astype(np.float64) * (0.5 + want)).max():.2e}, of negative x "
          f"{np.abs(gelu_low + xs.astype(np.float64) * (0.5 - want)).max():.2e}")


if __name__ == "__main__":
    main()
