"""The version of the project."""

__all__ = ["VERSION"]

VERSION = "0.1.0"
