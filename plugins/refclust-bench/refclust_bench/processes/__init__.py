"""The processes that contenders run in, as parent and child see them, and the machine below."""
