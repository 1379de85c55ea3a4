"""Files as other programs write them: what `init` guesses, and that it can be read."""

import tomllib

import numpy as np
import pytest

from importance_audit.config.init_file import starter_from
from importance_audit.config.load import parse_config
from importance_audit.data.csv_dialects import guessed
from importance_audit.data.datasets import read_datasets
from importance_audit.models.fit import fit_models
from importance_audit.records.errors import DataError

X = [1234567.89, -1234.5, 0.25, *(round(100.37 * i + 7, 2) for i in range(-7, 14))]
Y = [float(i % 6) for i in range(24)]
POINT = [f"{x:.2f}" for x in X]
COMMA = [text.replace(".", ",") for text in POINT]
GROUPED = [f"{x:,.2f}" for x in X]
GERMAN = [text.translate({ord(","): ".", ord("."): ","}) for text in GROUPED]
FRENCH = [text.translate({ord(","): "\u202f", ord("."): ","}) for text in GROUPED]


def lines(cells, separator=";", head="x", end="\n"):
    rows = [f"{cell}{separator}{y:.0f}" for cell, y in zip(cells, Y, strict=True)]
    return end.join([f"{head}{separator}y", *rows, ""])


SEMICOLON, COMMAS = {"separator": ";"}, {"separator": ";", "decimal": ","}
KILO = COMMAS | {"thousands": "."}
FILES = {
    "plain": (lines(POINT, ","), {}),
    "semicolons": (lines(POINT), SEMICOLON),
    "decimal comma": (lines(COMMA), COMMAS),
    "tabs": (lines(COMMA, "\t"), {"separator": "\t", "decimal": ","}),
    "quoted": (
        lines([f'"{text}"' for text in COMMA], ","),
        {"separator": ",", "decimal": ","},
    ),
    "German": (lines(GERMAN), KILO),
    "English": (lines([f'"{text}"' for text in GROUPED], ","), {"thousands": ","}),
    "French": (lines(FRENCH), COMMAS | {"thousands": " "}),
    "Swiss": (
        lines([text.replace(",", "'") for text in GROUPED]),
        SEMICOLON | {"thousands": "'"},
    ),
    "Swiss, both": (
        lines([text.replace(",", "'’"[text < "5"]) for text in GROUPED]),
        SEMICOLON | {"thousands": "'"},
    ),
    "mark": ("\ufeff" + lines(COMMA, end="\r\n"), COMMAS),
}


def read_back(folder, target="y", **given):
    """Return x and y, in the order of the file, as the written configuration reads."""
    text = starter_from(folder / "rows.csv", target, folder, given)
    config = parse_config(tomllib.loads(text), base=folder)
    train, test = read_datasets(**config.data_arguments)
    fit_models(config.models, train)
    rows = np.concatenate([train.row_numbers, test.row_numbers])
    order = np.argsort(rows)
    x = np.concatenate([train.X.iloc[:, 0], test.X.iloc[:, 0]])
    return x[order].tolist(), np.concatenate([train.y, test.y])[order].tolist()


def keys_of(folder, **given):
    guesses = guessed(folder / "rows.csv", given)
    return {guess.key: guess.value for guess in guesses}


def written(folder, text):
    """Write the file as it stands here, and return its folder."""
    (folder / "rows.csv").write_text(text, encoding="utf-8", newline="")
    return folder


@pytest.mark.parametrize("name", FILES)
def test_numbers_are_read_as_they_were_written(name, tmp_path):
    text, keys = FILES[name]
    assert keys_of(written(tmp_path, text)) == keys
    assert read_back(tmp_path) == (X, Y)


@pytest.mark.parametrize(
    ("encoding", "guess"),
    [
        ("latin-1", "cp1252"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-8", None),
    ],
)
def test_the_encoding_is_guessed(encoding, guess, tmp_path):
    text = lines(["früh", "spät"] * 12, head="Größe")
    (tmp_path / "rows.csv").write_bytes(text.encode(encoding))
    assert keys_of(tmp_path).get("encoding") == guess
    assert read_back(tmp_path) == (["früh", "spät"] * 12, Y)


def test_cells_may_hold_the_separator_and_ends_of_lines(tmp_path):
    cells = ['"a;b"', '"a\n;;b"'] * 12
    assert keys_of(written(tmp_path, lines(cells))) == SEMICOLON
    assert read_back(tmp_path) == (["a;b", "a\n;;b"] * 12, Y)


def test_what_is_given_is_not_guessed(tmp_path):
    assert keys_of(written(tmp_path, lines(GERMAN)), **KILO) == {}
    assert read_back(tmp_path, **KILO) == (X, Y)


def test_a_reason_names_the_line(tmp_path):
    text = 'x;z\n1;"b\nc"\n2;d\n1234567;\n3;e\n"1.234,5";f\n'
    guesses = guessed(written(tmp_path, text) / "rows.csv", {})
    reasons = {guess.key: guess.reason for guess in guesses}
    assert reasons == {
        "separator": "6 of the first 6 lines have 2 cells",
        "decimal": "line 7 holds '1.234,5'",
        "thousands": "line 7 holds '1.234,5'",
    }


WHOLE = [1200 + i % 9 for i in range(24)]
THREE = [f"{n / 1000:.3f}" for n in WHOLE]


QUOTED = [f'"{text}"'.replace(".", ",") for text in THREE]


@pytest.mark.parametrize(
    ("text", "cell", "sign", "name"),
    [
        (lines(THREE), "1.200", ".", "point"),
        (lines(QUOTED, ","), "1,200", ",", "comma"),
    ],
)
def test_a_sign_of_two_meanings_is_asked_about(text, cell, sign, name, tmp_path):
    with pytest.raises(DataError) as error:
        keys_of(written(tmp_path, text))
    assert str(error.value) == (
        f"rows.csv: line 2 holds {cell!r} in column 'x', in which the {name} may stand "
        f'before thousands or decimals. Give --thousands "{sign}" or --decimal '
        f'"{sign}".'
    )
    assert read_back(tmp_path, thousands=sign)[0] == WHOLE
    assert read_back(tmp_path, decimal=sign)[0] == [float(text) for text in THREE]


def test_groups_of_an_address_do_not_decide_what_a_point_means(tmp_path):
    rows = [f"192.168.142.{i},{n},{i % 3}\n" for i, n in enumerate(THREE, start=100)]
    assert keys_of(written(tmp_path, "".join(["client,x,y\n", *rows]))) == {}


@pytest.mark.parametrize(
    "text",
    [
        lines(THREE, "\t"),
        lines(THREE, "|"),
        lines(["987", *THREE[1:]], ","),
    ],
    ids=["tabs", "bars", "whole numbers too"],
)
def test_three_decimals_without_another_sign_are_asked_about(text, tmp_path):
    with pytest.raises(DataError, match="in column 'x', in which the point may stand"):
        keys_of(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (lines(THREE, ","), [n / 1000 for n in WHOLE]),  # beside commas
        (lines(["0,5", "1,2E-05", "0,25"] * 8), [0.5, 1.2e-05, 0.25] * 8),
    ],
)
def test_three_decimals_exponents_and_blanks_that_do_not_break_are_of_numbers(
    text, numbers, tmp_path
):
    assert read_back(written(tmp_path, text))[0] == numbers


REFUSED = {
    "": "rows.csv is empty. Save it with a line of column names and its rows.",
    "y\n1.5\n2.5\n": "rows.csv has one column, 'y', and needs another as a feature. If "
    "another sign than a semicolon, tab, comma or vertical bar separates its cells, "
    "give it as --separator.",
    "Sales of 2024\n" + lines(COMMA): "rows.csv: line 2 has 2 cells, and the first ",
    lines(COMMA) + '"1;2\n3;4\n': "rows.csv cannot be read as CSV: line 27:",
    lines(COMMA) + "1;2;3\n": "rows.csv: line 26 has 3 cells, and the first line 2. ",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_table_is_refused_with_what_was_seen(text, tmp_path):
    with pytest.raises(DataError, match=f"^{REFUSED[text]}"):
        read_back(written(tmp_path, text))


def test_a_column_without_a_name_identifies_rows(tmp_path):
    text = lines(COMMA).replace("\n", ";\n")
    assert keys_of(written(tmp_path, text)) == COMMAS | {"index_column": ""}
    assert read_back(tmp_path) == (X, Y)


def test_a_mark_that_no_decimals_can_have_is_of_thousands(tmp_path):
    rows = [f"{a};{b};{y:.0f}" for a, b, y in zip(THREE, COMMA, Y, strict=True)]
    written(tmp_path, "\n".join(["a;b;y", *rows, ""]))
    assert keys_of(tmp_path) == KILO
    assert read_back(tmp_path)[0] == WHOLE


def test_options_that_do_not_suit_the_file_are_refused(tmp_path):
    written(tmp_path, lines(COMMA))
    with pytest.raises(DataError, match="cannot be read with encoding 'utf-9'"):
        keys_of(tmp_path, encoding="utf-9")
    with pytest.raises(DataError, match=r"^--sheet works only with \.xlsx files"):
        read_back(tmp_path, sheet="A")


@pytest.mark.parametrize(
    "cells", [["12 %", "0.12", "3 %"], ["5EUR", "€5", "7 EUR"], ["12,34,567", "1,234"]]
)
def test_numbers_that_cannot_be_told_leave_their_column_out(cells, tmp_path):
    cells = cells * 12
    rows = [f"{a};{b};{y}" for a, b, y in zip(cells[:24], POINT, Y, strict=True)]
    written(tmp_path, "\n".join(["a;b;y", *rows, ""]))
    text = starter_from(tmp_path / "rows.csv", "y", tmp_path)
    assert "strip" not in text.partition("features")[0]
    assert '# "a",  # left out: holds numbers that are not written like 1234.5' in text


@pytest.mark.parametrize("word", ["k.A.", "k. A.", "keine Angabe", "#NV", "n.a."])
def test_words_for_missing_beside_decimal_commas_are_proposed(word, tmp_path):
    written(tmp_path, lines([word, *COMMA[1:]]))
    text = starter_from(tmp_path / "rows.csv", "y", tmp_path)
    assert tomllib.loads(text)["data"]["missing_values"] == [word]
    x, y = read_back(tmp_path)
    assert np.isnan(x[0])
    assert (x[1:], y) == (X[1:], Y)
