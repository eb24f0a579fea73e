"""The constructors of named tuples, by the number of their fields, from one field on. Who needs more adds a line.

They are written out so that they are compiled once, with this file: to compile them when they are needed, as
`collections.namedtuple` does, takes a tenth of the time of a hook.
"""

_new = tuple.__new__

# fmt: off
CONSTRUCTORS = (
    lambda _cls, a: _new(_cls, (a,)),
    lambda _cls, a, b: _new(_cls, (a, b)),
    lambda _cls, a, b, c: _new(_cls, (a, b, c)),
    lambda _cls, a, b, c, d: _new(_cls, (a, b, c, d)),
    lambda _cls, a, b, c, d, e: _new(_cls, (a, b, c, d, e)),
    lambda _cls, a, b, c, d, e, f: _new(_cls, (a, b, c, d, e, f)),
    lambda _cls, a, b, c, d, e, f, g: _new(_cls, (a, b, c, d, e, f, g)),
    lambda _cls, a, b, c, d, e, f, g, h: _new(_cls, (a, b, c, d, e, f, g, h)),
    lambda _cls, a, b, c, d, e, f, g, h, i: _new(_cls, (a, b, c, d, e, f, g, h, i)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j: _new(_cls, (a, b, c, d, e, f, g, h, i, j)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p,
        q)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p,
        q, r)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n,
        p, q, r, s)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m,
        n, p, q, r, s, t)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k,
        m, n, p, q, r, s, t, u)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v: _new(_cls, (a, b, c, d, e, f, g, h, i, j,
        k, m, n, p, q, r, s, t, u, v)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w: _new(_cls, (a, b, c, d, e, f, g, h, i,
        j, k, m, n, p, q, r, s, t, u, v, w)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x: _new(_cls, (a, b, c, d, e, f, g, h,
        i, j, k, m, n, p, q, r, s, t, u, v, w, x)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y: _new(_cls, (a, b, c, d, e, f, g,
        h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z: _new(_cls, (a, b, c, d, e, f,
        g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A: _new(_cls, (a, b, c, d, e,
        f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B: _new(_cls, (a, b, c, d,
        e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C: _new(_cls, (a, b, c,
        d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D: _new(_cls, (a, b,
        c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E: _new(_cls, (a,
        b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F: _new(_cls,
        (a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G:
        _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H:
        _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, J:
        _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H,
        J)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, J, K:
        _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, J,
        K)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, J, K,
        L: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H,
        J, K, L)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, J, K,
        L, M: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G,
        H, J, K, L, M)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, J, K,
        L, M, N: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F,
        G, H, J, K, L, M, N)),
    lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F, G, H, J, K,
        L, M, N, P: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k, m, n, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E,
        F, G, H, J, K, L, M, N, P)),
)
