"""Deliberate faults in the search by likelihood, each of which `faults.py` finds."""

KERNEL, ERRORS = "_fitness/kernel/prediction_error.py", "_fitness/prediction_error.py"
SEARCH, CERTAINTY, DOUBTS = (f"_algorithms/{name}.py" for name in ("likelihood_search", "certainty", "doubts"))
NOISE = "_model/noise_models.py"

# The file, what stands there, and the fault.
FAULTS = {
    "sign of the autoregression": (
        KERNEL,
        "value += autoregression[i] * series[row - 1 - i]",
        "value -= autoregression[i] * series[row - 1 - i]",
    ),
    "lag of the moving average": (
        KERNEL,
        "value -= moving_average[i] * filtered[row - 1 - i]",
        "value -= moving_average[i] * filtered[row - i]",
    ),
    "sensitivity to the autoregression": (
        KERNEL,
        "noise.ar_lags[i], -1.0, c, bands",
        "noise.ar_lags[i], 1.0, c, bands",
    ),
    "lag of a column of the noise": (
        KERNEL,
        "series[row - lag] if past >= lag",
        "series[row - lag + 1] if past >= lag",
    ),
    "integration forgotten": (KERNEL, "        _difference(data, state.noise)\n", "        pass\n"),
    "integration of the columns forgotten": (KERNEL, "            if is_integrated:\n", "            if False:\n"),
    "feedback forgotten": (
        KERNEL,
        "_feedback(data, terms, state.weights, state.values, feedback)",
        "feedback[:] = 0.0",
    ),
    "weight of Student-t": (
        KERNEL,
        "state.row_weights[row] = (nu + 1.0) / (nu +",
        "state.row_weights[row] = (nu + 1.0) / (1.0 + 9.0 *",
    ),
    "scale of Student-t": (KERNEL, "share = square / (nu * scale + square)", "share = square / (scale + square)"),
    "start share forgotten": (KERNEL, "    start_squares *= noise.start_share\n", ""),
    "tolerance": (KERNEL, "value - lower < tolerance * unit", "value - lower < 1e6 * tolerance * unit + 1e-3"),
    "transient forgotten": (ERRORS, "TRANSIENT, TRANSIENT_SHARE = 30, 0.05", "TRANSIENT, TRANSIENT_SHARE = 0, 0.05"),
    "constant of Student-t": (ERRORS, "- _LN_2PI - 1.0", "- _LN_2PI + 1.0"),
    "units of the deviance": (ERRORS, "units = 2 * self._output_exponent", "units = self._output_exponent"),
    "lag of a filter": (ERRORS, "row[: len(ar_lags)] = _places(ar_lags)", "row[: len(ar_lags)] = _places(ar_lags) + 1"),
    "sign of a filter": (ERRORS, "= -own_weights[: len(ar_lags)]", "= own_weights[: len(ar_lags)]"),
    "direction of copies": (ERRORS, "lag - ahead)", "lag + ahead)"),
    "price of the noise": (SEARCH, "noise = price * fit", "noise = 0.0 * fit"),
    "gamma forgotten": (SEARCH, "LinearExtendedBIC(gamma)", "LinearExtendedBIC(0.0)"),
    "penalties of added and dropped terms swapped": (
        SEARCH,
        "np.where(structure, price_of_dropping, price_of_adding)",
        "np.where(structure, price_of_adding, price_of_dropping)",
    ),
    "sign of the window": (CERTAINTY, "if cost < WINDOW:", "if cost < -WINDOW:"),
    "weight without a half": (CERTAINTY, "math.exp(-0.5 * (window.criteria", "math.exp(-1.0 * (window.criteria"),
    "gamma of probabilities forgotten": (CERTAINTY, "+ float(self.change[len(fit.terms)])", "+ 0.0"),
    "autocorrelations weighed wrongly": (DOUBTS, "correlation**2 / (n - lag)", "correlation**2 / (n + lag)"),
    "autoregression and moving average swapped": (
        NOISE,
        "            yield (), ma_lags\n\n\nclass Ararx",
        "            yield ma_lags, ()\n\n\nclass Ararx",
    ),
    "integration costs nothing": (NOISE, "+ int(self.is_integrated) +", "+"),
}


def with_fault(name, package):
    """Return the file of a package that a fault belongs to, and its content with the fault."""
    file, right, wrong = FAULTS[name]
    path = package / file
    text = path.read_text(encoding="utf-8")
    assert right in text, f"{file} has no {right!r} any more"
    return path, text.replace(right, wrong)
