"""Columns cross as numbers and come back as they were."""

import numpy as np
import pandas as pd
import pytest

from importance_audit.r_bridge.errors import RBridgeError
from importance_audit.r_bridge.numeric import as_numbers, restored

FRAME = pd.DataFrame(
    {
        "size": [1.5, np.nan, -2.0],
        "count": [3, -1, 7],
        "flag": [True, False, True],
        "grade": pd.Categorical(
            ["low", None, "high"], categories=["high", "low", "none"], ordered=True
        ),
    }
)


def test_rows_in_any_order_come_back_as_they_were():
    for rows in ([0, 1, 2], [2, 0]):
        turned = as_numbers(FRAME).iloc[rows].reset_index(drop=True)
        expected = FRAME.iloc[rows].reset_index(drop=True)
        pd.testing.assert_frame_equal(restored(turned, FRAME), expected)


def test_categories_are_codes_of_their_levels_in_order():
    numbers = as_numbers(FRAME)
    assert (numbers.dtypes == np.float64).all()
    assert [*numbers] == [*FRAME]
    np.testing.assert_array_equal(numbers["grade"], [1.0, np.nan, 0.0])
    assert numbers["flag"].tolist() == [1.0, 0.0, 1.0]


def test_text_is_refused_by_name():
    with pytest.raises(RBridgeError) as refusal:
        as_numbers(pd.DataFrame({"place": pd.Series(["here"], dtype=object)}))
    assert str(refusal.value) == (
        "Column 'place' must hold numbers or categories to be sent as numbers; its "
        "dtype is object. Convert it before."
    )
