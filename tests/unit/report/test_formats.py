"""Names and numbers for readers, and escaping: any text is shown literally in every format."""

from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from narxbench._report import formats


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *[(0.975, "0.98"), (0.925, "0.93"), (0.125, "0.13"), (0.9, "0.90"), (42 / 66, "0.64"), (43 / 66, "0.65")],
        *[(1, "1"), (1.0, "1"), (0, "0"), (0.0, "0"), (0.995, "1.00"), (0.001, "0.00")],
    ],
)
def test_rounding_is_the_papers(value, shown):
    assert formats.rounded(value) == shown


def test_names_and_numbers():
    assert [formats.method_name(name) for name in ("upso2d", "ga", "mine")] == ["2D-UPSO", "GA", "mine"]
    assert [formats.criterion_name(name) for name in ("bic", "aic-8")] == ["BIC", "AIC (ϱ = 8)"]
    assert [formats.signed(value) for value in (0.1, -0.1, 0.0001, -0.0001)] == ["+0.100", "−0.100", "0.000", "0.000"]
    assert [formats.fixed(value, 1) for value in (-20.04, -0.01)] == ["−20.0", "0.0"]
    assert [formats.p_value(value) for value in (0.00001, 0.0123)] == ["< 0.001", "0.012"]
    assert [formats.snr(50.0), formats.snr(37.5), formats.number(3.0), formats.number(0.1)] == (
        ["50 dB", "37.5 dB", "3", "0.1"]
    )
    assert [formats.percent(1, 4), formats.percent(1, 0)] == ["25 %", "–"]


def test_symbols_of_the_paper():
    shown = {
        "latex": [r"$\mathit{c}_{1}$", r"$\mathit{ps}$", r"$\omega$", ""],
        "markdown": ["*c*<sub>1</sub>", "*ps*", "*ω*", ""],
        "html": ["<i>c</i><sub>1</sub>", "<i>ps</i>", "<i>ω</i>", ""],
        "plain": ["c_1", "ps", "ω", ""],
    }
    assert {to: [formats.format_symbol(name, to) for name in shown["plain"]] for to in shown} == shown


def test_shares_and_numbers_of_any_size():
    shares = (0, 0.001, 0.005, 0.714, 0.994, 0.9999, 1)
    assert [formats.share(value) for value in shares] == ["0 %", "< 1 %", "< 1 %", "71 %", "99 %", "> 99 %", "100 %"]
    assert [formats.count(value) for value in (0, 1234.5, -3.0)] == ["0", "1,234", "−3"]
    numbers = (0, 0.00312, -0.0996, 0.999, 9.96, 12345, -0.00001, 0.00001, 2e6, -2e6)
    assert [formats.significant(value) for value in numbers] == (
        ["0", "0.0031", "−0.10", "1.0", "10", "12,000", "> −0.0001", "< 0.0001", "> 1,000,000", "< −1,000,000"]
    )


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\r", exclude_categories=["Cc", "Zl", "Zp"]), max_size=30)
)
@settings(max_examples=50)
def test_markdown_and_html_show_any_text_literally(text):
    shown = MarkdownIt("commonmark").enable("table").render(f"x {formats.escape(text, 'markdown')} x")
    assert unescape(shown.strip()).replace("<p>", "", 1).removesuffix("</p>").split() == f"x {text} x".split()
    html = formats.escape(text, "html")
    assert unescape(html) == text
    assert not set(html) & set("<>\"'")


def test_latex_escapes_any_name():
    assert formats.escape(r"a_b&c%$#{}~^\<x>|[1]--*", "latex") == (
        r"a\_b\&c\%\$\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}\textless{}x\textgreater{}"
        r"\textbar{}{[}1{]}-{}-{*}"
    )


def test_symbols_are_mathematics_and_the_rest_is_escaped():
    text = "T1 y(k-1)^2*u(k-2), ν_max & r_x"
    assert formats.format_math(text, "latex") == r"$T_{1}$~${y(k-1)^{2}\,u(k-2)}$, $\nu_{\max}$ \& r\_x"
    assert formats.format_math(text, "markdown") == r"T1 `y(k-1)^2*u(k-2)`, ν<sub>max</sub> \& r\_x"
    assert formats.format_math(text, "html") == (
        "T<sub>1</sub>&nbsp;<code>y(k-1)^2*u(k-2)</code>, ν<sub>max</sub> &amp; r_x"
    )
    assert formats.format_math(text, "plain") == text
