"""Studies: methods compared on data sets, over seeds, as one tidy table.

``Study`` runs every method on every data set with every seed, in parallel, and keeps what is done. ``grid`` expands
options, ``MEASURES`` lists what can be measured, ``means``, ``table`` and ``figure`` sum up. Own methods and
measures are plain functions.

>>> import nominym as nym
>>> frame, taxonomies = nym.datasets.discharges(500, seed=1)
>>> masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
>>> methods = nym.study.grid(nym.RankSwap, k=[2, 10], method="records")
>>> found = nym.Study({"discharges": frame}, methods, masked, measures=["rmse"], seeds=range(2)).run()
>>> found.loc[found["measure"] == "rmse", ["method", "k", "seed"]].values.tolist()[:2]
[["RankSwap(method='records')", 2, 0], ["RankSwap(method='records')", 2, 1]]
"""

from nominym.study.drawing import figure
from nominym.study.measures import MEASURES, Outcome, register
from nominym.study.plan import grid
from nominym.study.study import Study
from nominym.study.summary import means, table

__all__ = ["MEASURES", "Outcome", "Study", "figure", "grid", "means", "register", "table"]
