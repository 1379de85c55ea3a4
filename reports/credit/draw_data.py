"""Draw data.csv.gz: 12 000 applications for consumer credit, made up for this example.

    .venv/bin/python reports/credit/draw_data.py

Everything is whole numbers, made of the raw draws of PCG64, which numpy never changes:
every processor and version makes the same table. "Hundredths" are of a standard
deviation.
"""

import gzip
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Bits = np.random.PCG64
Whole = npt.NDArray[np.int64]

N_ROWS = 12_000
N_DEFAULTS = 960
FIRST_DAY, FIRST_TEST_DAY = np.datetime64("2021-01-01"), np.datetime64("2023-01-01")
N_DAYS = 1_095
DEALERS = 84
NEW_DEALER = "D84-opened-2023"
PURPOSES = (
    *("used car", "new car", "home improvement", "debt consolidation"),
    *("furniture", "electronics", "education", "medical"),
)
HOUSING = ("own", "mortgage", "rent", "with parents")
SEED = 20231231


def whole(bits: Bits, low: int, high: int, n: int = N_ROWS) -> Whole:
    """Return whole numbers from low to high, both included, equally likely."""
    raw = np.asarray(bits.random_raw(n), dtype=np.uint64)
    return low + (raw >> np.uint64(11)).astype(np.int64) % (high - low + 1)


def bell(bits: Bits) -> Whole:
    """Return draws that are close to normal, mean 0, in hundredths."""
    return whole(bits, 0, 100, 12 * N_ROWS).reshape(12, -1).sum(axis=0) - 600


def mixed(bits: Bits, share: int, known: Whole) -> Whole:
    """Return a bell of correlation `share` per cent with a known one.

    The other part is weighted by the root of 1 - share², in thousandths.
    """
    other = isqrt(100 * (10_000 - share * share))
    return (10 * share * known + other * bell(bits)) // 1000


def skewed(hundredths: Whole, scale: int) -> Whole:
    """Return non-negative numbers with a long right tail: the square, shifted."""
    return scale * np.maximum(hundredths + 250, 0) ** 2 // 62_500


def drawn(
    bits: Bits, levels: tuple[str, ...], weights: list[int]
) -> npt.NDArray[np.str_]:
    """Return levels, drawn by whole weights."""
    ends = np.cumsum(weights)
    return np.array(levels)[np.searchsorted(ends, whole(bits, 1, int(ends[-1])))]


def dealers(bits: Bits, days: npt.NDArray[np.datetime64]) -> npt.NDArray[np.str_]:
    """Return one of 84 dealers a row: a few large ones, many rare, one new in 2023."""
    names = tuple(f"D{k:02}" for k in range(1, DEALERS))
    chosen = drawn(bits, names, [60_000 // (k * k + 20) for k in range(1, DEALERS)])
    # Every dealer is met at least three times before 2023, so training knows it.
    chosen[: 96 * len(names) : 32] = np.tile(names, 3)
    is_new = (days >= FIRST_TEST_DAY) & (whole(bits, 1, 100) == 1)
    return np.where(is_new, NEW_DEALER, chosen)


def traits(bits: Bits) -> dict[str, Any]:
    """Return what is known of each applicant and loan, by short names."""
    days = FIRST_DAY + np.sort(whole(bits, 0, N_DAYS - 1)).astype("timedelta64[D]")
    risk = bell(bits)  # high is bad; no column holds it
    means = mixed(bits, -30, risk)

    age = np.clip(42 + 12 * (mixed(bits, -25, risk)) // 100, 18, 79)
    income = 12 + skewed(means, 28)
    net_monthly = 10 * ((income * 62 + mixed(bits, 0, means) * 2) // 12)
    score = np.clip(640 - 75 * mixed(bits, 75, risk) // 100, 300, 850)
    score_before = np.clip(score + 14 * bell(bits) // 100 - 8, 300, 850)
    amount = 500 * np.clip(skewed(mixed(bits, 35, means), 22), 2, 120)
    term = 12 * whole(bits, 1, 7)
    instalment = 100 * amount // (term * net_monthly)
    used = np.clip(34 + 30 * mixed(bits, 45, risk) // 100, 0, 120)
    limit = 100 * (4 + skewed(means, 60))
    balance = used * limit // 100
    enquiries = np.maximum((mixed(bits, 35, risk) + 120) // 90, 0)
    tenure = skewed(mixed(bits, 40, age * 8 - 340), 46)
    # Whoever was never late has no month to report, and is the better risk.
    is_late = mixed(bits, 55, risk) > 30
    months_late = np.clip(26 - 9 * mixed(bits, 20, risk) // 100, 1, 60)
    more = np.maximum((mixed(bits, 50, risk) - 60) // 60, 0)
    late = np.where(is_late & (months_late <= 24), 1 + more, 0)
    debt = np.clip(18 + instalment + used // 6 + 6 * bell(bits) // 100, 0, 95)
    has_score = whole(bits, 1, 100) > 4
    knows_tenure = whole(bits, 1, 100) > 9
    is_customer = mixed(bits, -30, risk) > 40
    is_verified = whole(bits, 1, 100) <= 70
    housing = drawn(bits, HOUSING, [30, 25, 35, 10])
    purpose = drawn(bits, PURPOSES, [30, 12, 18, 14, 10, 8, 5, 3])
    dealer = dealers(bits, days)
    return {
        "days": days,
        "age": age,
        "income": income,
        "net_monthly": net_monthly,
        "score": score,
        "score_before": score_before,
        "amount": amount,
        "term": term,
        "instalment": instalment,
        "used": used,
        "balance": balance,
        "enquiries": enquiries,
        "tenure": tenure,
        "is_late": is_late,
        "months_late": months_late,
        "late": late,
        "debt": debt,
        "has_score": has_score,
        "knows_tenure": knows_tenure,
        "is_customer": is_customer,
        "is_verified": is_verified,
        "housing": housing,
        "purpose": purpose,
        "dealer": dealer,
    }


def outcome(bits: Bits, of: dict[str, Any]) -> Whole:
    """Return 1 for the applicants who default: those with most danger."""
    merit = (
        -90 * (of["score"] - 640) // 75
        + 70 * of["is_late"]
        + np.where(of["is_late"], (30 - of["months_late"]) * 2, 0)
        + 45 * (of["used"] - 34) // 30
        + 45 * (of["debt"] - 41) // 20
        + 22 * np.minimum(of["enquiries"], 6)
        + 30 * (of["purpose"] == "debt consolidation")
        - 25 * of["is_verified"]
        + 25 * (of["housing"] == "rent")
        - 12 * (of["age"] - 42) // 12
    )
    danger = merit + 200 * bell(bits) // 100
    order = np.argsort(-danger, kind="stable")
    defaults = np.zeros(N_ROWS, dtype=np.int64)
    defaults[order[:N_DEFAULTS]] = 1
    return defaults


def columns(bits: Bits) -> dict[str, npt.NDArray[np.generic]]:
    """Return the columns of the table, in order."""
    of = traits(bits)
    defaults = outcome(bits, of)
    return {
        "application.number": 4_100_000 + np.cumsum(whole(bits, 1, 9)),
        "applicationDate": of["days"],
        "development_sample": np.where(of["days"] < FIRST_TEST_DAY, "train", "test"),
        "ageOfPrimaryApplicantInYears": of["age"],
        "annual_gross_income_primary_applicant_thousands": of["income"],
        "household.net_income_per_month": of["net_monthly"],
        "employmentLengthInMonths": blank(of["tenure"], of["knows_tenure"]),
        "bureau.score.v3": blank(of["score"], of["has_score"]),
        "bureau.score.v2": blank(of["score_before"], of["has_score"]),
        "months_since_most_recent_delinquency_any_trade": blank(
            of["months_late"], of["is_late"]
        ),
        "number_of_trades_30_days_past_due_last_24_months": of["late"],
        "avgBalanceRevolvingAccountsLast12Months": of["balance"],
        "revolving.utilisation.percent.of.limit": of["used"],
        "totalDebtToIncomeRatioAfterDisbursementPercent": of["debt"],
        "requested_amount": of["amount"],
        "requested_term_months": of["term"],
        "monthly_instalment_to_net_income_percent": of["instalment"],
        "number_of_bureau_enquiries_last_6_months": of["enquiries"],
        "dealer.code": of["dealer"],
        "loan.purpose": of["purpose"],
        "housing_status": of["housing"],
        "isExistingCustomer": flag(of["is_customer"]),
        "has_verified_income": flag(of["is_verified"]),
        "internal.routing.digit": whole(bits, 0, 9),
        "default_within_12_months": defaults,
    }


def blank(values: Whole, is_there: npt.NDArray[np.bool_]) -> npt.NDArray[np.str_]:
    """Return texts, empty where a cell is missing."""
    return np.where(is_there, values.astype(str), "")


def flag(values: npt.NDArray[np.bool_]) -> npt.NDArray[np.str_]:
    """Return true and false as a table writes them."""
    return np.where(values, "true", "false")


def table() -> bytes:
    """Return the table as CSV."""
    named = columns(Bits(SEED))
    texts = [column.astype(str) for column in named.values()]
    rows = [",".join(named), *map(",".join, zip(*texts, strict=True))]
    return ("\n".join(rows) + "\n").encode()


if __name__ == "__main__":
    path = Path(__file__).with_name("data.csv.gz")
    path.write_bytes(gzip.compress(table(), mtime=0))
