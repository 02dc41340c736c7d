"""The command line: ``app`` holds the application, every command group has a file of its own.

Nothing heavy is imported before a command runs, so that ``--help`` and completion stay quick.
"""
