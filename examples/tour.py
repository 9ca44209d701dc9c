"""What nominym does with a table, step by step, from Python."""

from __future__ import annotations

import time

import pandas as pd

import nominym as nym
from nominym import stats

RECORDS = 100_000


def main() -> None:
    start = time.perf_counter()
    frame, taxonomies = nym.datasets.discharges(RECORDS, seed=1)
    print(f"{RECORDS:,} synthetic hospital discharges\n")
    print(frame.head(4).to_string(index=False), "\n")

    print("Their values are concepts of taxonomies:")
    for name in ("diagnosis", "procedure"):
        tax = taxonomies[name]
        value = frame[name].mode()[0]
        path = " < ".join(tax.label(c) for c in tax.subsumers(value)[:4])
        print(f"  {name}: {len(tax):,} concepts; most frequent is {value}: {path} …")

    print("\nSo their statistics follow meaning, exactly, over all pairs of records:")
    for name in ("diagnosis", "secondary", "procedure"):
        tax = taxonomies[name]
        mean = stats.semantic_mean(frame[name], tax)
        variance = stats.semantic_variance(frame[name], tax)
        print(f"  {name:<10} semantic mean {tax.label(mean)!r}, variance {variance:.4f}")
    print("\nDistance covariance (diagonal: variance):")
    print(stats.covariance_matrix(frame, taxonomies).round(4).to_string())

    print("\nMasking by strict rank swapping, in groups of at least 10 records:")
    masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    for label, how in (
        ("groups, k = 10", {}),
        ("SRS-3, k = 10", {"method": "records"}),
        ("plain shuffle", {"method": "random"}),
    ):
        res = nym.rank_swap(frame, masked, k=10, correlations=True, **how)
        realised = res.secret.summary
        row = realised["correlations"].iloc[0]
        print(
            f"  {label:<15} moves diagnoses by {realised['attributes']['diagnosis']['rmse']:.3f} (RMSE), correlation "
            f"{row['before']:.3f} → {row['after']:.3f}. {res.guarantee.headline}"
        )
    assert res.data["diagnosis"].value_counts().equals(frame["diagnosis"].value_counts())
    print("  Every category is as frequent as before; only who has which value has changed:")
    shown = nym.rank_swap(frame, masked, k=10).data
    print(pd.concat({"before": frame.head(4), "after": shown.head(4)}).iloc[:, :3].to_string(), "\n")
    print(f"\nAll of this took {time.perf_counter() - start:.1f} s.")


if __name__ == "__main__":
    main()
