"""Methods: importances of features, and effects, which are curves and surfaces."""
