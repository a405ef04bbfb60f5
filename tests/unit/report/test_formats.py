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


@pytest.mark.parametrize(
    ("form", "texts"),
    [
        (formats.method_name, {"upso2d": "2D-UPSO", "ga": "GA", "mine": "mine"}),
        (formats.criterion_name, {"bic": "BIC", "aic-8": "AIC (ϱ = 8)"}),
        (formats.signed, {0.1: "+0.100", -0.1: "−0.100", 0.0001: "0.000", -0.0001: "0.000"}),
        (formats.p_value, {0.00001: "< 0.001", 0.0123: "0.012"}),
        (formats.snr, {50.0: "50 dB", 37.5: "37.5 dB"}),
        (formats.number, {3.0: "3", 0.1: "0.1"}),
        (formats.share, {0: "0 %", 0.001: "< 1 %", 0.005: "< 1 %", 0.714: "71 %", 0.994: "99 %", 0.9999: "> 99 %"}),
        (formats.share, {1: "100 %"}),
        (formats.count, {0: "0", 1234.5: "1,234", -3.0: "−3"}),
        (formats.significant, {0: "0", 0.00312: "0.0031", -0.0996: "−0.10", 0.999: "1.0", 9.96: "10", 12345: "12,000"}),
        (formats.significant, {-0.00001: "> −0.0001", 0.00001: "< 0.0001", 2e6: "> 1,000,000", -2e6: "< −1,000,000"}),
    ],
)
def test_names_and_numbers(form, texts):
    assert list(map(form, texts)) == list(texts.values())


def test_numbers_with_a_precision_or_a_whole():
    assert (formats.fixed(-20.04, 1), formats.fixed(-0.01, 1)) == ("−20.0", "0.0")
    assert (formats.percent(1, 4), formats.percent(1, 0)) == ("25 %", "–")


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("latex", [r"$\mathit{c}_{1}$", r"$\mathit{ps}$", r"$\omega$", ""]),
        ("markdown", ["*c*<sub>1</sub>", "*ps*", "*ω*", ""]),
        ("html", ["<i>c</i><sub>1</sub>", "<i>ps</i>", "<i>ω</i>", ""]),
        ("plain", ["c_1", "ps", "ω", ""]),
    ],
)
def test_symbols_of_the_paper(form, shown):
    assert [formats.format_symbol(name, form) for name in ("c_1", "ps", "ω", "")] == shown


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
