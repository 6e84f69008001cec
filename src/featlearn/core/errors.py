"""Errors that are meant to be read by a user: each names what is wrong and what to do."""


class FeatlearnError(Exception):
    """Base of all errors that featlearn raises on purpose."""


class ConfigError(FeatlearnError, ValueError):
    """A config value is missing, unknown, of the wrong type or impossible."""


class DamagedFileError(FeatlearnError, OSError):
    """The bytes of an artefact are not the bytes that were written."""


class DivergedError(FeatlearnError, ArithmeticError):
    """A training run left the finite numbers."""
