"""Excitation: the distributions of the inputs, and recorded ones."""

import numpy as np
import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._model.excitation import (
    AutoregressiveInput,
    BinaryInput,
    GaussianInput,
    HeldInput,
    RecordedInput,
    UniformInput,
    excitation_of,
)
from narxbench._numerics.random_streams import generator


def test_distributions():
    def drawn(excitation):
        return excitation.samples(generator(purpose="input", system="S1", seed=1), 20_000)

    uniform = drawn(UniformInput(low=-2.0, high=1.0))
    assert -2 <= uniform.min() < -1.99 and 0.99 < uniform.max() <= 1
    gaussian = drawn(GaussianInput(sd=0.3))
    assert np.std(gaussian) == pytest.approx(0.3, rel=0.02) and abs(np.mean(gaussian)) < 0.01
    coloured = drawn(AutoregressiveInput(sd=0.3, pole=0.8))
    assert np.std(coloured) == pytest.approx(0.3, rel=0.05)
    assert np.corrcoef(coloured[1:], coloured[:-1])[0, 1] == pytest.approx(0.8, abs=0.02)


def test_recorded_input(tmp_path):
    file = tmp_path / "u.csv"
    file.write_text("u\n" + "\n".join(str(0.01 * i) for i in range(50)) + "\n")
    recorded, draws = RecordedInput(file=str(file)), generator(purpose="input")
    np.testing.assert_allclose(recorded.samples(draws, 40), 0.01 * np.arange(40))
    with pytest.raises(NarxbenchError, match="found 50 samples; allowed: at least 60"):
        recorded.samples(draws, 60)


def test_inputs_that_are_made_of_others():
    def drawn(excitation, size=3000):
        return excitation.samples(generator(purpose="input", system="S1", seed=1), size)

    slow = AutoregressiveInput(sd=0.5, pole=0.8)
    held = HeldInput(hold=4).for_system(slow)
    np.testing.assert_array_equal(drawn(held)[::4], drawn(slow, 750))
    np.testing.assert_array_equal(drawn(held, 10), drawn(held)[:10])
    np.testing.assert_array_equal(drawn(held)[3::4], drawn(held)[::4])
    binary, levels = BinaryInput().for_system(slow), drawn(slow).mean() + drawn(slow).std() * np.array([-1.0, 1.0])
    np.testing.assert_allclose(np.unique(drawn(binary)), levels)
    np.testing.assert_array_equal(drawn(binary) > drawn(slow).mean(), drawn(slow) > drawn(slow).mean())
    # An input that says what it is made of stays as it is, and so do others.
    assert held.for_system(UniformInput()) == held and slow.for_system(UniformInput()) == slow
    assert excitation_of(held.model_dump(mode="json")) == held
    np.testing.assert_array_equal(drawn(HeldInput(hold=1)), drawn(UniformInput()))


def test_recorded_inputs_can_be_held():
    assert [drawn.recorded_file for drawn in (UniformInput(), BinaryInput())] == ["", ""]
    assert HeldInput().for_system(RecordedInput(file="u.csv")).recorded_file == "u.csv"


def test_plain_data_describe_an_excitation():
    slow = AutoregressiveInput(sd=0.5, pole=0.8)
    assert excitation_of(slow.model_dump(mode="json"), "x") == excitation_of(slow, "x") == slow
    with pytest.raises(NarxbenchError, match=r"my\.yaml: excitation\.pole"):
        excitation_of({"kind": "autoregressive", "pole": 1.0}, "my.yaml")
    with pytest.raises(NarxbenchError, match="low below high"):
        excitation_of({"kind": "uniform", "low": 1.0, "high": -1.0})
