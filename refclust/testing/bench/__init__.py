"""The benchmark: refclust beside its peers, on equal work, in one interleaved run (chapter 82).

``workloads`` says what is measured, ``data`` makes the inputs, ``own`` and ``peers`` hold the
contenders, ``child`` runs them in processes of their own, ``runner`` takes turns, ``judge`` decides
whose time counts, ``machine`` and ``report`` tell the rest. Other libraries are imported in the
children only.
"""
