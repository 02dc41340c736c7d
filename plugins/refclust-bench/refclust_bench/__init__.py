"""The benchmark: refclust beside its peers, on equal work, in one interleaved run (chapter 82).

``workloads`` says what is measured, ``data`` makes the inputs, ``own`` and ``peers`` hold the
contenders, ``processes`` run them apart from each other, ``runner`` takes turns, ``judge`` decides
whose time counts, ``report`` tells the rest. Other libraries are imported in the
children only.
"""
