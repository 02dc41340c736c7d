"""Tracing: source document → clause → function → golden vector → property test.

``matrix.build`` shows what is traced, ``check.problems`` lists what is not, ``lock.update``
renews the locks, ``show.clause`` shows one clause with its code and its evidence.
"""
