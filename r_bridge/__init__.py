"""R in a process of its own: functions called by name, with predict in Python.

Values are converted as follows; any other value is refused, with the name of its
column. The audit holds dates as numbers, so they come from R and are not sent to it.

    Python                              R                    back in Python
    ----------------------------------  -------------------  ---------------------------
    None                                NULL                 None
    float, float16 ... float64          double               float64
    int, uint, Int64 within 2**31       integer              int64, Int64 if any is NA
    int, uint, Int64 within 2**53       double               float64
    bool, boolean                       logical              bool, boolean if any is NA
    category                            factor, ordered      Categorical
    str, string, objects of str         character            object: str, None
    -                                   POSIXct              datetime64, DatetimeIndex
    -                                   Date                 datetime64 of days
    -                                   difftime             timedelta64
    list, tuple of one of the above     vector               array
    ndarray of two dimensions           matrix               ndarray, Fortran order
                                        ... with colnames    DataFrame
    dict; list, tuple of other values   list                 dict if named, else list
    DataFrame                           data.frame           DataFrame

NaN, None, NaT and NA are sent as NA; R's NaN and NA both return as NaN. The index of a
DataFrame is not sent; row names return if they are text, the names of a vector do not.
Frames that R passes to predict get the dtypes of the original frame, column by column:
numpy's floats, integers and bool, or category.

Corresponding names:

    ours                    vip                         DALEX, ingredients
    ----------------------  --------------------------  --------------------------------
    feature, features       Variable, feature_names     variable, variables
    group, groups           -                           variable_groups
    importance              Importance                  dropout_loss: a loss, not a gain
    y                       target, truth               y, observed
    predict(X)              pred_wrapper                predict_function
    positive_class          event_level; which.class    a column of predict_function
    loss                    metric, smaller_is_better   loss_function
    baseline                baseline                    _full_model_
    y_permuted              -                           _baseline_
    form                    type, "difference"          type, "raw"
    n_repeats               nsim, 1                     B, 10
    n_rows                  sample_size                 N; n_sample in model_parts, 1000
    std                     StDev                       rows permutation = 1 ... B
    partial_dependence      method = "firm"             -
    grid, values            pred.grid, yhat             variable_splits, _x_, _yhat_
    seed, stream            set.seed                    set.seed

Read in this order: `wire` (messages), `python_values` and `r_values`, `schema`
(frames for predict), `worker` (R's process), `process`, `dialogue` (one
call), `host` (the session).
"""
