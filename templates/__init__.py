"""The templates, style sheets and fixed sentences of the report. Not: code."""
