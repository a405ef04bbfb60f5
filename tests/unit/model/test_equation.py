"""Legends of models with noise; equations themselves are tested with the models."""

import pytest

from narxbench._model.narx import Model


def noisy(name, **noise):
    return Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y", noise_model=name, **noise)


LEGENDS = [
    (noisy("narx"), ""),
    (
        noisy("narx", degrees_of_freedom=3),
        "noise: white noise in the equation (NARX), Student-t with 3 degrees of freedom",
    ),
    (noisy("noe"), "noise: white noise on the output (NOE)"),
    (
        noisy("narmax", moving_average=(0.7, -0.2)),
        "noise: a moving average in the equation (NARMAX), w(k) = e(k) + 0.7 e(k-1) - 0.2 e(k-2) with white e(k)",
    ),
    (
        noisy("ararx", autoregression=(0.0, -0.5)),
        "noise: autoregressive noise in the equation (ARARX), w(k) = 0.5 w(k-2) + e(k) with white e(k)",
    ),
    (
        noisy("box-jenkins", autoregression=(0.25,), moving_average=(-0.5,)),
        "noise: coloured noise on the output (Box-Jenkins), w(k) = -0.25 w(k-1) + e(k) - 0.5 e(k-1) with white e(k)",
    ),
    (
        noisy("narmax", moving_average=(-0.9,), is_integrated=True),
        "noise: a moving average in the equation (NARMAX), integrated, w(k) = w(k-1) + e(k) - 0.9 e(k-1) "
        "with white e(k)",
    ),
    (
        noisy("ararx", autoregression=(-0.5,), is_integrated=True, degrees_of_freedom=4),
        "noise: autoregressive noise in the equation (ARARX), integrated, w(k) = w(k-1) + v(k), "
        "v(k) = 0.5 v(k-1) + e(k) with white e(k), Student-t with 4 degrees of freedom",
    ),
]


@pytest.mark.parametrize(("model", "line"), LEGENDS)
def test_the_noise_is_named_in_words_with_its_coefficients(model, line):
    assert "\n".join(model.equation().split("\n")[1:]) == line
    assert repr(model) == f"<Model: {model.equation()}>"
    program = model.export("python")
    assert ("noise:" in program) == bool(line)


def test_latex():
    assert noisy("ararmax", autoregression=(-0.5,), moving_average=(1e-7,)).latex().split("\n")[-1] == (
        r"noise: noise of an autoregression and a moving average in the equation (ARARMAX), "
        r"$w(k) = 0.5\,w(k-1) + e(k) + 1 \times 10^{-7}\,e(k-1)$ with white $e(k)$."
    )
