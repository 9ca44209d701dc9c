from collections.abc import Callable
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ConceptRows",
    "Concepts",
    "Graph",
    "Marginality",
    "Sets",
    "__version__",
    "assign_groups",
    "assign_matches",
    "assign_ring",
    "attack_bundles",
    "attack_informed",
    "attack_matching",
    "attack_recoding",
    "category_distances",
    "class_sizes",
    "common_concepts",
    "count_compatible",
    "count_queries",
    "counts",
    "covariance_squared",
    "cut_line",
    "digits",
    "distinct_tuples",
    "distortions",
    "draw_normal",
    "draw_pairs",
    "draw_queries",
    "draw_sample",
    "draw_spread",
    "draw_synthetic",
    "draw_uniform",
    "draw_values",
    "error_rate",
    "expected_squares",
    "free_memory",
    "group_alike",
    "group_along",
    "group_records",
    "joint",
    "link_records",
    "match_diverse",
    "mean_concepts",
    "mean_labels",
    "order_best",
    "order_gray",
    "order_gray_tsp",
    "order_tree",
    "permute_groups",
    "ranks_by_frequency",
    "semantic_error",
    "set_threads",
    "shift_values",
    "shuffle_rows",
    "swap_dynamic",
    "swap_fixed",
    "swap_random",
    "swap_ranked",
    "swap_records",
    "tour_length",
    "vote_assignments",
    "vote_cells",
    "vote_groups",
    "vote_ring",
]

__version__: str

_Concepts = NDArray[np.uint32]
_Progress = Callable[[int, int], object] | None

@final
class Concepts:
    def __len__(self) -> int: ...

@final
class ConceptRows:
    def __len__(self) -> int: ...

# A matrix, positions on a line, numbers that are equal or not, concepts of a tree, or sets and whether there are gaps.
_Distances = NDArray[np.float64] | NDArray[np.uint32] | Concepts | tuple[Sets, bool]

def category_distances(distances: _Distances, a: _Codes, b: _Codes) -> NDArray[np.float64]: ...

@final
class Graph:
    def __new__(cls, n: int, child: _Concepts, parent: _Concepts) -> Graph: ...
    def __len__(self) -> int: ...
    @property
    def root(self) -> int: ...
    @property
    def links(self) -> int: ...
    @property
    def is_tree(self) -> bool: ...
    def depth(self, concept: int) -> int: ...
    def parents(self, concept: int) -> _Concepts: ...
    def children(self, concept: int) -> _Concepts: ...
    def subsumers(self, concept: int) -> _Concepts: ...
    def subtree(self, concept: int) -> _Concepts: ...
    def lcs(self, concepts: _Concepts) -> int: ...
    def restrict(self, concept: int) -> tuple[Graph, _Concepts]: ...
    def placed(
        self,
        concepts: _Concepts,
        measure: str,
        content: NDArray[np.float64] | None = None,
        progress: _Progress = None,
    ) -> Concepts: ...
    def rows(self, concepts: _Concepts, measure: str, content: NDArray[np.float64] | None = None) -> ConceptRows: ...
    def first_parents(self) -> Graph: ...
    def edges(self) -> tuple[_Concepts, _Concepts]: ...
    def information(
        self, kind: str, k: float = 0.5, counts: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]: ...
    def pairs(
        self,
        a: _Concepts,
        b: _Concepts,
        measure: str,
        content: NDArray[np.float64] | None = None,
        progress: _Progress = None,
    ) -> NDArray[np.float64]: ...
    def matrix(
        self,
        concepts: _Concepts,
        measure: str,
        out: NDArray[np.float32] | NDArray[np.float64],
        content: NDArray[np.float64] | None = None,
        progress: _Progress = None,
    ) -> None: ...
    def mean(
        self,
        concepts: _Concepts,
        counts: NDArray[np.uint64],
        measure: str,
        content: NDArray[np.float64] | None = None,
        progress: _Progress = None,
    ) -> int: ...

@final
class Marginality:
    def __new__(cls, graph: Graph, counts: NDArray[np.uint64]) -> Marginality: ...
    @property
    def of(self) -> NDArray[np.float64]: ...
    def distances(self, a: _Concepts, b: _Concepts, progress: _Progress = None) -> NDArray[np.float64]: ...

def counts(codes: NDArray[np.uint32], categories: int, progress: _Progress = None) -> NDArray[np.uint64]: ...
def joint(
    x: NDArray[np.uint32], y: NDArray[np.uint32], categories: tuple[int, int], progress: _Progress = None
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64]]: ...
def covariance_squared(
    x: NDArray[np.uint32],
    y: NDArray[np.uint32],
    count: NDArray[np.uint64],
    a: _Distances | ConceptRows,
    b: _Distances | ConceptRows,
    progress: _Progress = None,
) -> float: ...
def digits(graph: Graph, counts: NDArray[np.uint64]) -> tuple[int, int, list[tuple[int, int]]]: ...
def set_threads(threads: int) -> None: ...
def free_memory(root: str = "/") -> int | None: ...
def draw_normal(n: int, seed: int | None, column: int) -> NDArray[np.float64]: ...
def draw_spread(n: int, seed: int | None, column: int) -> NDArray[np.float64]: ...
def draw_uniform(n: int, seed: int | None, column: int) -> NDArray[np.float64]: ...
def draw_synthetic(n: int, seed: int | None, part: int) -> NDArray[np.float64]: ...

_Codes = NDArray[np.uint32]
_Swapped = tuple[_Codes, NDArray[np.uint64]]

def swap_fixed(
    codes: _Codes,
    counts: NDArray[np.uint64],
    distances: _Distances,
    k: int,
    seed: int | None,
    column: int,
    progress: _Progress = None,
) -> _Swapped: ...
def swap_dynamic(
    codes: _Codes,
    counts: NDArray[np.uint64],
    distances: _Distances,
    k: int,
    seed: int | None,
    column: int,
    progress: _Progress = None,
) -> _Swapped: ...
def swap_ranked(
    codes: _Codes, ranks: _Codes, k: int, seed: int | None, column: int, progress: _Progress = None
) -> _Swapped: ...
def swap_random(codes: _Codes, seed: int | None, column: int, progress: _Progress = None) -> _Swapped: ...
def swap_records(
    codes: list[_Codes],
    distances: list[_Distances],
    missing: list[int | None],
    k: int,
    seed: int | None,
    progress: _Progress = None,
) -> list[_Swapped]: ...
def group_records(
    codes: list[_Codes],
    distances: list[_Distances],
    k: int,
    anneal: bool,
    seed: int | None,
    progress: _Progress = None,
    constraints: list[tuple[_Codes, int]] | None = None,
) -> tuple[_Codes, _Codes]: ...
def expected_squares(
    codes: _Codes, distances: _Distances, missing: int | None, group_of: _Codes, progress: _Progress = None
) -> float: ...
def permute_groups(
    codes: list[_Codes],
    group_of: _Codes,
    joint: bool,
    seed: int | None,
    progress: _Progress = None,
    order: _Codes | None = None,
) -> list[_Codes]: ...

_Coded = tuple[_Codes, int]

def draw_pairs(
    n: int,
    equal: list[_Coded],
    unequal: list[list[_Coded]],
    wanted: int,
    seed: int | None,
    step: int,
    progress: _Progress = None,
) -> tuple[_Codes, _Codes, int, int]: ...
def distortions(
    before: list[_Codes],
    after: list[_Codes],
    categories: list[int],
    sets: list[list[int]],
    progress: _Progress = None,
) -> list[tuple[float, float, float, tuple[float, float] | None, float, int]]: ...
def distinct_tuples(
    before: list[_Codes], after: list[_Codes], categories: list[int], progress: _Progress = None
) -> tuple[list[_Codes], _Codes, _Codes]: ...
def ranks_by_frequency(counts: NDArray[np.uint64]) -> _Codes: ...

_Domain = Graph | NDArray[np.float64]

def shift_values(
    domain: _Domain,
    concepts: _Concepts,
    codes: _Codes,
    errors: NDArray[np.float64],
    reference: int | _Concepts,
    measure: str,
    content: NDArray[np.float64] | None,
    seed: int | None,
    column: int,
    progress: _Progress = None,
) -> tuple[_Concepts, int, int]: ...
def draw_values(
    domain: _Domain,
    concepts: _Concepts,
    codes: _Codes,
    epsilon: float,
    measure: str,
    content: NDArray[np.float64] | None,
    seed: int | None,
    column: int,
    progress: _Progress = None,
) -> _Concepts: ...

_Numbers = NDArray[np.uint32]

@final
class Sets:
    @staticmethod
    def make(n_items: int, starts: NDArray[np.uint64], items: _Numbers) -> Sets | tuple[int, int]: ...
    @staticmethod
    def parse(data: bytes, progress: _Progress = None) -> tuple[Sets, _Numbers]: ...
    def __len__(self) -> int: ...
    @property
    def n_items(self) -> int: ...
    def row(self, i: int) -> _Numbers: ...
    def starts(self) -> NDArray[np.uint64]: ...
    def items(self) -> _Numbers: ...
    def frequencies(self) -> _Numbers: ...
    def equals(self, other: Sets) -> bool: ...
    def select(self, rows: _Numbers) -> Sets: ...
    def over_concepts(
        self, graph: Graph, concepts: _Numbers, lowest: bool = False, progress: _Progress = None
    ) -> tuple[Sets, _Numbers]: ...
    def pairs(self, a: _Numbers, b: _Numbers, progress: _Progress = None) -> NDArray[np.float64]: ...
    def block(self, a: _Numbers, b: _Numbers, progress: _Progress = None) -> NDArray[np.float64]: ...
    def write(
        self,
        names: list[str],
        first: int,
        end: int,
        distance: Sets | None = None,
        threshold: _Numbers | None = None,
        labels: list[str] | None = None,
    ) -> bytes: ...

# Where the values of each group begin, the values, and the records of each.
_Cells = tuple[NDArray[np.uint64], _Numbers, NDArray[np.uint64]]

def mean_concepts(
    graph: Graph,
    cells: _Cells,
    measure: str,
    content: NDArray[np.float64] | None = None,
    progress: _Progress = None,
) -> _Numbers: ...
def common_concepts(graph: Graph, cells: _Cells, progress: _Progress = None) -> _Numbers: ...
def mean_labels(
    distances: NDArray[np.float64], own: _Numbers, cells: _Cells, progress: _Progress = None
) -> _Numbers: ...
def vote_cells(
    sets: Sets, cells: _Cells, common: NDArray[np.bool_] | None = None, progress: _Progress = None
) -> Sets: ...
def cut_line(numbers: NDArray[np.float64], k: int, progress: _Progress = None) -> _Numbers: ...

_Voted = tuple[Sets, Sets, _Numbers, float]

def vote_ring(sets: Sets, order: _Numbers, k: int, rows: _Numbers, progress: _Progress = None) -> _Voted: ...
def vote_groups(sets: Sets, group_of: _Numbers, rows: _Numbers, progress: _Progress = None) -> _Voted: ...
def vote_assignments(sets: Sets, assignments: _Numbers, rows: _Numbers, progress: _Progress = None) -> _Voted: ...
def error_rate(sets: Sets, published: Sets, rows: _Numbers, progress: _Progress = None) -> float: ...
def semantic_error(
    graph: Graph,
    sets: Sets,
    concepts: _Numbers,
    published: Sets,
    named: _Numbers,
    rows: _Numbers,
    measure: str,
    content: NDArray[np.float64] | None = None,
    progress: _Progress = None,
) -> float: ...
def draw_queries(n_items: int, size: int, queries: int, seed: int | None) -> Sets: ...
def count_queries(sets: Sets, queries: Sets, absent: bool, progress: _Progress = None) -> NDArray[np.uint64]: ...
def count_compatible(
    base: Sets, distance: Sets, threshold: _Numbers, records: Sets, progress: _Progress = None
) -> _Numbers: ...
def shuffle_rows(n: int, seed: int | None) -> _Numbers: ...

_Drawn = tuple[tuple[NDArray[np.uint32], int] | None, _Codes]

def order_gray(sets: Sets, columns: _Codes | None = None, progress: _Progress = None) -> _Codes: ...
def order_gray_tsp(sets: Sets, shortest: int, longest: int, seed: int | None, progress: _Progress = None) -> _Codes: ...
def order_best(sets: Sets, k: int, seed: int | None, progress: _Progress = None) -> _Codes: ...
def order_tree(sets: Sets, seed: int | None, progress: _Progress = None) -> _Codes: ...
def tour_length(sets: Sets, order: _Codes, cyclic: bool) -> int: ...
def assign_ring(order: _Codes, k: int, method: str, seed: int | None, progress: _Progress = None) -> _Drawn: ...
def match_diverse(
    sets: Sets,
    order: _Codes,
    labels: _Codes,
    l: int,
    seed: int | None,
    progress: _Progress = None,
) -> _Codes: ...
def assign_matches(
    assignments: _Codes, order: _Codes, method: str, seed: int | None, progress: _Progress = None
) -> _Drawn: ...
def group_alike(
    sets: Sets,
    order: _Codes,
    least: int,
    labels: _Codes | None,
    effort: str,
    limit: float | None,
    seed: int | None,
    progress: _Progress = None,
) -> _Codes: ...
def group_along(sets: Sets, order: _Codes, least: int, labels: _Codes | None, progress: _Progress = None) -> _Codes: ...
def assign_groups(group_of: _Codes, seed: int | None, progress: _Progress = None) -> _Codes: ...
def link_records(
    targets: list[_Codes],
    release: list[_Codes],
    distances: list[_Distances],
    owner: NDArray[np.uint32],
    owner_of_row: NDArray[np.uint32],
    progress: _Progress = None,
    cells: tuple[_Codes, _Codes] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.uint32], NDArray[np.uint32]]: ...
def attack_informed(
    masked: list[tuple[_Codes, int]],
    kept: list[tuple[_Codes, int]],
    group_of: _Codes,
    progress: _Progress = None,
    sampled: _Codes | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def attack_matching(
    before: list[_Codes],
    after: list[_Codes],
    distances: list[_Distances],
    size: int,
    seed: int | None,
    progress: _Progress = None,
    group_of: _Codes | None = None,
    cells: _Codes | None = None,
    targets: _Codes | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
def attack_recoding(
    before: list[tuple[_Codes, int]],
    after: list[tuple[_Codes, int]],
    anchors: list[tuple[_Codes, _Codes, int]],
    seed: int | None,
    progress: _Progress = None,
) -> list[NDArray[np.uint32]]: ...
def attack_bundles(
    before: list[tuple[_Codes, int]],
    after: list[tuple[_Codes, int]],
    unit_before: _Codes,
    unit_after: _Codes,
    units: int,
    targets: _Codes | None = None,
    progress: _Progress = None,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
def class_sizes(
    columns: list[tuple[_Codes, int]], progress: _Progress = None
) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]: ...
def draw_sample(n: int, size: int, seed: int | None) -> NDArray[np.uint32]: ...
