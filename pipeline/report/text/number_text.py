"""Formatting of numbers for the page: decimals, signs, units."""

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ...records import losses

MISSING = "–"
MINUS = "−"
THIN = "\u202f"
MAX_DECIMALS = 6


def decimals(
    values: npt.ArrayLike, errors: npt.ArrayLike = (), clear: npt.ArrayLike = ()
) -> int:
    """Return the number of decimals of a column, the same for all its values.

    It shows two digits of the median standard error, or four digits of the largest
    value if there are no standard errors, and at least the first digit of all values in
    `clear`. The result is between 0 and 6; values in `clear` below 1e-6 are ignored.

    Parameters
    ----------
    values : array_like
        The values of the column.
    errors : array_like
        Their standard errors; those that are not positive and finite are ignored.
    clear : array_like
        The values, or their differences from the baseline, that noise cannot explain.
    """
    spread, size, small = (_sizes(numbers) for numbers in (errors, values, clear))
    places = 0
    if len(spread):
        places = 1 - _power(float(np.median(spread)))
    elif len(size):
        places = 3 - _power(float(size.max()))
    visible = small[small >= 10.0**-MAX_DECIMALS]
    if len(visible):
        places = max(places, -_power(float(visible.min())))
    return min(max(places, 0), MAX_DECIMALS)


def _sizes(numbers: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the absolute values of the numbers that are finite and not zero."""
    size = np.abs(np.asarray(numbers, dtype=float))
    return size[np.isfinite(size) & (size > 0)]


def _power(value: float) -> int:
    """Return the decimal exponent of a positive number."""
    return math.floor(math.log10(value))


def number(value: float, places: int, *, sign: bool = False) -> str:
    """Return a number with `places` decimals, minus sign and thin spaces at thousands.

    A number that would be rounded to zero is printed as a bound, such as "< 0.01"; NaN
    as a dash.
    """
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    text = f"{abs(value):,.{places}f}".replace(",", THIN)
    if value and not float(f"{abs(value):.{places}f}"):
        least = f"{10**-places:.{places}f}"
        return f"> {MINUS}{least}" if value < 0 else f"< {least}"
    if value < 0:
        return f"{MINUS}{text}"
    return f"+{text}" if sign and value else text


def count(value: int) -> str:
    """Return an integer with thin spaces at thousands."""
    return number(value, 0)


def percent(share: float) -> str:
    """Return a share in percent, with one decimal if below 9.95 % and not whole."""
    if not math.isfinite(share):
        return number(share, 0)
    is_whole = abs(share) >= 0.0995 or round(100 * share, 6).is_integer()
    return f"{number(100 * share, 0 if is_whole else 1)}{THIN}%"


def significant(value: float, digits: int = 3) -> str:
    """Return a number with so many digits, or two and an exponent if tiny or huge.

    That is below 1e-4 and from 1e7 on.
    """
    if not math.isfinite(value):
        return number(value, 0)
    if value and not 1e-4 <= abs(value) < 1e7:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", MINUS)
    size = math.floor(math.log10(abs(value))) if value else 0
    text = number(value, min(max(digits - 1 - size, 0), MAX_DECIMALS))
    return text.rstrip("0").rstrip(".") if "." in text else text


def end_text(value: float, places: int) -> str:
    """Return an end of an interval, with one digit if it would be rounded to zero.

    A text such as "< 0.01" would be a bound on a bound.
    """
    if value and not round(abs(value), places):
        is_tiny = abs(value) < 10.0**-MAX_DECIMALS
        own = -math.floor(math.log10(abs(value)))
        return significant(value, 1) if is_tiny else number(value, own)
    return number(value, places)


def lone(value: float, *, least: int = 0) -> str:
    """Return a number outside a column: four digits, or an exponent below 1e-4.

    Parameters
    ----------
    value : float
    least : int, default 0
        Least number of decimals, such as that of a number to compare it with.
    """
    if value and abs(value) < 1e-4:
        return significant(value)
    return number(value, max(decimals([value]), least))


def rounded_up(number: int) -> int:
    """Return a positive integer rounded up to two significant digits."""
    step = 10 ** max(len(str(number)) - 2, 0)
    return -(-number // step) * step


def plain_number(value: float) -> str:
    """Return a value of the data, such as a year, without separators and padding."""
    if not math.isfinite(value):
        return number(value, 0)
    return f"{value + 0.0:.6g}".replace("-", MINUS)  # -0.0 is 0


def rank_text(rank: float) -> str:
    """Return a rank: "2", or "2.5" for a tie."""
    return MISSING if math.isnan(rank) else f"{rank:g}"


def interval_text(first: float, last: float) -> str:
    """Return an interval of ranks: "2", or "4–5"."""
    if math.isnan(first) or math.isnan(last):
        return MISSING
    return f"{first:g}" if first == last else f"{first:g}–{last:g}"


def unit_text(unit: str, target_unit: str) -> str:
    """Return the unit of a record in words; empty for a pure number.

    Parameters
    ----------
    unit : str
        "y", "y^2", "%", "nats", "1" or a scale.
    target_unit : str
        The unit of the target, or its name.
    """
    if unit == "y^2":
        return f"({target_unit})²" if target_unit else ""
    return {"y": target_unit, "1": "", "response": target_unit}.get(
        unit, unit.replace("_", " ")
    )


def loss_label(loss: str) -> str:
    """Return the label of a loss, with no-break spaces around its minus sign."""
    return losses.loss_label(loss).replace(" − ", "\u00a0−\u00a0")


def method_words(method: str) -> str:
    """Return the name of a method for a sentence; of an own method, its function."""
    return method.partition(":")[2] or method.replace("_", " ")


def finite(values: Iterable[float]) -> list[float]:
    """Return the values that are finite."""
    return [value for value in values if math.isfinite(value)]
