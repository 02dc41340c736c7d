"""The independent witness: makes every golden vector from the definitions alone.

Nothing here imports the package that the vectors judge. Run ``python -m spec.generators`` from
the top of the repository; the README beside this file says why and how.
"""
