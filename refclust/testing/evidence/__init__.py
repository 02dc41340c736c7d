"""Whether evidence bites: defining functions are changed, and what cites their clause must fail.

``run.tried`` changes each definition mechanically, line by line, in forked processes, and lets only
the evidence that cites its clause judge: golden cases, property tests, and the doctest of the
definition, which is told apart.
"""
