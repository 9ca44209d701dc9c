"""Data to try nominym on: synthetic hospital discharges, and loaders for public data sets."""

from __future__ import annotations

from nominym.datasets.discharges import SHAPES, Discharges, discharges

__all__ = ["SHAPES", "Discharges", "discharges"]
