#!/usr/bin/env python3
"""Finds the coefficients of power_of_two() in products.inc.h: 2^f = 1 + f Q(f) for |f| <= 1/2.

The polynomial that is nearest by its largest relative error, by weighted least squares whose weights follow the error
(Lawson, "Contributions to the theory of linear least maximum approximations", 1961). Prints the coefficients, highest
power first, and the largest errors before and after they are evaluated in f32. Needs numpy.

usage: fit_power.py [DEGREE]
"""

import sys

import numpy as np


def fit(f, degree):
    """Q of so low a degree that f Q(f) has this one, lowest power first, and its largest relative error."""
    power = 2.0**f
    a = np.stack([f ** (k + 1) / power for k in range(degree)], axis=1)
    wanted = (power - 1) / power
    weight = np.ones_like(f)
    for _ in range(300):
        q, *_ = np.linalg.lstsq(a * np.sqrt(weight)[:, None], wanted * np.sqrt(weight), rcond=None)
        error = np.abs(a @ q - wanted)
        weight = weight * (error / error.max() + 1e-9)
        weight /= weight.mean()
    return q, error.max()


def error_in_f32(q):
    f = np.linspace(-0.5, 0.5, 100001).astype(np.float32)
    value = np.full_like(f, q[-1])
    for coefficient in [*q[-2::-1], np.float32(1)]:
        value = np.float32(value * f) + coefficient
    return np.abs(value / 2.0 ** f.astype(np.float64) - 1).max()


def main():
    degree = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    nodes = np.cos(np.pi * (np.arange(4001) + 0.5) / 4001) / 2
    q, error = fit(nodes, degree)
    q = q.astype(np.float32)
    print(", ".join(f"{number:.9e}F" for number in q[::-1]))
    print(f"largest relative error: {error:.2e}, in f32: {error_in_f32(q):.2e}")


if __name__ == "__main__":
    main()
