"""Exceptions of the bridge between Python and R.

    RBridgeError     a value that cannot be sent, or a wrong use of the bridge
      UnknownClass   a model of a class without a known predict function
      RUnavailable   no usable R, rpy2 or R package
      RError         R stopped with an error of its own
      RTimeout       an R call reached its deadline
      RDied          the R process ended during a request

An exception raised by `predict` is none of these: the same object is raised, with the
resulting R error as its cause.
"""

QUOTED = 60
"""Most characters of a name in a message; a longer one is cut."""


def quote(name: object) -> str:
    """Return a name as it appears in a message: as Python writes it, cut if long."""
    text = repr(name)
    return text if len(text) <= QUOTED else f"{text[: QUOTED - 3]}..."


class RBridgeError(Exception):
    """A value that cannot be sent to R, or a wrong use of the bridge."""


class UnknownClass(RBridgeError):  # noqa: N818 (a finding about a model)
    """A model of R of a class without a known predict function."""


class RUnavailable(RBridgeError):  # noqa: N818 (the design's name)
    """R, rpy2 or an R package is absent, too old or does not start."""


class RError(RBridgeError):
    """An R function stopped with an error.

    Attributes
    ----------
    message, call : str
        R's message and the call named in it; the call may be empty.
    """

    def __init__(self, text: str, *, message: str = "", call: str = "") -> None:
        super().__init__(text)
        self.message = message
        self.call = call


class RTimeout(RBridgeError):  # noqa: N818 (the design's name)
    """An R call was still running at its deadline and was stopped."""


class RDied(RBridgeError):  # noqa: N818 (the design's name)
    """The R process ended while a request was open."""
