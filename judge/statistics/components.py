"""Which threads are linked by wins in both directions: the condition for finite Bradley-Terry strengths."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csgraph, csr_array  # type: ignore[import-untyped, unused-ignore]


def strong_components(half_wins: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Number the strongly connected components of "has beaten or tied with"; shape (n,).

    Numbered by first member, so of two components of equal size the one with the first thread comes first.
    """
    _, labels = csgraph.connected_components(csr_array(half_wins > 0), directed=True, connection="strong")
    _, first_seen, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty_like(first_seen)
    rank[np.argsort(first_seen)] = np.arange(len(first_seen))
    return np.asarray(rank[inverse], dtype=np.int64)
