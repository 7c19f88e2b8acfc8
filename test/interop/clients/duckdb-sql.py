"""Runs the SQL of standard input with DuckDB in the current folder."""

import sys

import duckdb

duckdb.connect().execute(sys.stdin.read())
