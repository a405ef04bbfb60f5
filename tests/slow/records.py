"""Simulated records of kinds that users have asked about: columns by name, rounded as in their files."""

import numpy as np


def write(path, columns, digits):
    """Write columns as text, numbers with so many digits behind the point; NaN is an empty field."""
    rows = []
    for values in zip(*columns.values(), strict=True):
        rows.append(",".join("" if np.isnan(value) else f"{value:.{digits}f}" for value in values))
    path.write_text("\n".join([",".join(columns), *rows]) + "\n")
    return str(path)


def oscillating_drive(seed=20, n=1024):
    """Return a hydraulic drive without dead time: its early effect rises slowly under the band of chance."""
    rng = np.random.default_rng(seed)
    level = np.repeat(rng.uniform(-1.2, 1.2, n), rng.integers(4, 40, n))[:n]
    x, u = np.zeros(n), np.zeros(n)
    for k in range(1, n):
        x[k] = 0.6 * x[k - 1] + 0.4 * level[k]
        u[k] = 0.6 * u[k - 1] + 0.4 * x[k]
    u = np.round(u / 0.0024) * 0.0024
    y, z, disturbance = np.zeros(n), np.zeros(n), 0.0
    radius, angle = 0.94, 2 * np.pi / 30
    for k in range(2, n):
        disturbance = 0.9 * disturbance + 0.03 * rng.standard_normal()
        z[k] = 0.6 * z[k - 1] - 0.12 * u[k - 1] + 0.05 * u[k - 1] ** 3
        oscillation = 2 * radius * np.cos(angle) * y[k - 1] - radius * radius * y[k - 2]
        y[k] = oscillation + z[k - 1] + disturbance
    return {"u": u, "y": y}


def valves(n=1500):
    """Return two valves whose sum acts at once and whose difference acts later: each hides the early effect."""
    rng = np.random.default_rng(5)

    def slow(scale):
        values = np.zeros(n)
        for k in range(1, n):
            values[k] = 0.8 * values[k - 1] + scale * rng.standard_normal()
        return values

    difference, total = slow(0.4), slow(0.08)
    hot, cold = total + difference, total - difference
    y = np.zeros(n)
    for k in range(2, n):
        early = 0.5 * (hot[k] + cold[k]) - 0.3 * (hot[k - 1] + cold[k - 1])
        y[k] = 0.85 * y[k - 1] + early + 0.2 * (hot[k - 2] - cold[k - 2])
    return {"hot": hot, "cold": cold, "y": y + 0.02 * rng.standard_normal(n)}


def titration():
    """Return a steep curve whose last part, the test, stays on the flat side inside the range that is known."""
    rng = np.random.default_rng(0)
    n = 900
    steps = rng.choice([0.0, 0.3, 0.6, 1.0, 2.0], 90)
    steps[63:] = rng.uniform(1.05, 2.0, 27)
    base = np.repeat(steps, 10)
    acid = rng.uniform(8.0, 12.0, 90).repeat(10)
    ph, x = np.zeros(n), 1.0
    for k in range(1, n):
        x = 0.8 * x + 0.2 * base[k - 1]
        ph[k] = 7.5 + 4.0 * np.tanh(2.0 * (x - 0.7)) - 0.03 * acid[k - 1]
    ph[0] = ph[1]
    return {"acid": acid, "base": base, "pH": ph + 0.02 * rng.standard_normal(n)}


def logger_code(n=3000):
    """Return a sensor and a gas, half of it noise; outages of some hours have the value -200 in both columns."""
    rng = np.random.default_rng(2)
    u, y = np.zeros(n), np.zeros(n)
    for k in range(1, n):
        u[k] = 0.95 * u[k - 1] + rng.standard_normal()
        y[k] = 0.6 * y[k - 1] + 1.0 * u[k - 1] + 4.0 * rng.standard_normal()
    u, y = 1000 + 60 * u, 30 + 1.2 * y
    for start in rng.choice(n - 20, 14, replace=False):
        length = rng.integers(3, 14)
        u[start : start + length] = -200
        y[start : start + length] = -200
    return {"sensor": u, "gas": y}


def operating_point(seed, n=1500):
    """Return a linear system with an input far from zero, noise being half of the output."""
    rng = np.random.default_rng(seed)
    u, y = np.zeros(n), np.zeros(n)
    for k in range(1, n):
        u[k] = 0.95 * u[k - 1] + 60 * rng.standard_normal()
    u += 1000
    y[0] = 30
    for k in range(1, n):
        y[k] = 0.6 * y[k - 1] + 0.02 * u[k - 1] - 8 + 4.0 * rng.standard_normal()
    return {"u": u, "y": y}


def rain_and_runoff(seed, n=2500):
    """Return rain, 0 on most days, and the flow out of a store that empties faster the fuller it is."""
    rng = np.random.default_rng(seed)
    rain = np.where(rng.random(n) < 0.3, rng.exponential(8.0, n), 0.0)
    store, flow = 20.0, np.zeros(n)
    for k in range(1, n):
        store += rain[k - 1]
        flow[k] = min(0.01 * store + 0.0015 * store**2, 0.8 * store)
        store = max(store - flow[k] - 0.4 * min(1.0, store / 20), 0.5)
    flow *= 1 + 0.05 * rng.standard_normal(n)
    return {"rain": rain[1:], "flow": flow[1:]}


def two_outputs(n=900):
    """Return two outputs of an input: the gain of the second changes its sign in the test."""
    rng = np.random.default_rng(1)
    u = np.repeat(rng.uniform(-1, 1, n // 6), 6)
    a, b = np.zeros(n), np.zeros(n)
    for k in range(1, n):
        a[k] = 0.8 * a[k - 1] + 0.5 * u[k - 1] + 0.02 * rng.standard_normal()
        gain = 0.6 if k < 630 else -0.6
        b[k] = 0.7 * b[k - 1] + gain * u[k - 1] + 0.1 * a[k - 1] + 0.05 * rng.standard_normal()
    return {"u": u, "a": a, "b": b}


def hourly_load(n=24 * 7 * 6):
    """Return a load with a daily and a weekly pattern; the noise is lower in the last part."""
    rng = np.random.default_rng(4)
    hour, day = np.arange(n) % 24, (np.arange(n) // 24) % 7
    pattern = 2000 * np.sin(2 * np.pi * (hour - 7) / 24) + 600 * np.sin(4 * np.pi * hour / 24)
    base = 3000 + pattern - 700 * (day >= 5)
    noise = np.zeros(n)
    for k in range(1, n):
        noise[k] = 0.6 * noise[k - 1] + (250 if k < 0.8 * n else 60) * rng.standard_normal()
    return {"load": base + noise}


def recordings(count=4, n=400):
    """Return recordings of a bilinear system at several levels, and a new run at the second level."""
    rng = np.random.default_rng(0)

    def run(level):
        u = np.repeat(rng.uniform(0, 4, n // 8), 8) + level
        y = np.zeros(n)
        for k in range(2, n):
            y[k] = 0.5 * y[k - 1] + 0.2 * y[k - 2] + 0.3 * u[k - 1] - 0.02 * u[k - 1] * y[k - 1]
        return {"u": u[4:], "y": (y + 0.02 * rng.standard_normal(n))[4:]}

    records = [run(level) for level in range(count)]
    return records, run(1)


def turbine(n=300):
    """Return wind and power of a turbine, as the names and times of its control system write them."""
    rng = np.random.default_rng(0)
    wind, power = np.cumsum(rng.standard_normal(n)), np.zeros(n)
    for k in range(1, n):
        power[k] = 0.8 * power[k - 1] + wind[k - 1]
    return wind, power


def write_turbine(path, date):
    """Write the turbine's record with dates in a format that takes the day."""
    lines = ["Date/Time,Wind Speed (m/s),Active Power (kW)"]
    for k, (wind, power) in enumerate(zip(*turbine(), strict=True)):
        moment = f"{date.format(day=1 + k // 144)} {k % 144 // 6:02d}:{k % 6 * 10:02d}"
        lines.append(f"{moment},{wind:.4f},{power:.4f}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def metabolites():
    """Return three repeats of four metabolites at six points in time."""
    rng = np.random.default_rng(0)
    repeats = []
    for _ in range(3):
        state, rows = np.array([1.0, 0.5, 0.2, 0.1]), []
        for k in range(6):
            stimulus = 1.0 if k >= 2 else 0.0
            rows.append([k, stimulus, *(state + 0.02 * rng.standard_normal(4))])
            first, second, third, fourth = state
            state = np.array(
                [
                    0.8 * first + 0.3 * stimulus,
                    0.7 * second + 0.2 * first,
                    0.6 * third + 0.3 * second,
                    0.9 * fourth + 0.05 * third,
                ]
            )
        repeats.append(dict(zip(("hour", "stimulus", "a", "b", "c", "d"), np.array(rows).T, strict=True)))
    return repeats
