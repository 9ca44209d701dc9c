"""What nominym does, on synthetic hospital discharges: `make demo` runs this."""

from __future__ import annotations

import time

import numpy as np

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

    print("\nAnd so do the figures that judge a protection. A plain shuffle of the diagnoses:")
    tax_d, tax_p = taxonomies["diagnosis"], taxonomies["procedure"]
    shuffled = frame["diagnosis"].sample(frac=1, random_state=np.random.default_rng(1)).reset_index(drop=True)
    before, after = (
        stats.distance_correlation(column, frame["procedure"], tax_d, tax_p)
        for column in (frame["diagnosis"], shuffled)
    )
    print(f"  moves each value by {stats.rmse(frame['diagnosis'], shuffled, tax_d):.3f} of 1 (RMSE),")
    print(f"  and turns the correlation of diagnosis and procedure from {before:.3f} into {after:.3f}.")
    print(f"\nAll of this took {time.perf_counter() - start:.1f} s.")


if __name__ == "__main__":
    main()
