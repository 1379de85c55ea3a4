"""The wish that a run ends, uttered again until the run has heard it.

Python raises it wherever the run happens to be. In a callback of an import it is
printed and forgotten, and a library may take whatever happens while it loads for "not
installed". Not: what a run says of a wish that it heard (`stopping`).
"""

import gc
import signal
import weakref
from collections.abc import Callable

AGAIN_SECONDS = 1.0
"""After how long SIGALRM looks whether a wish was lost."""


class Wish(KeyboardInterrupt):
    """One that lives for as long as it is on its way to who hears it."""

    newest: "Callable[[], Wish | None] | None" = None

    def __init__(self, words: str) -> None:
        super().__init__(words)
        Wish.newest = weakref.ref(self)
        signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)


def utter_again(words: str) -> None:
    """Utter the newest wish once more if it was lost; while it lives, look again.

    Raises
    ------
    Wish
    """
    if Wish.newest is None:
        return
    gc.collect()  # an exception and the frame that caught it may hold each other
    if Wish.newest() is None:
        raise Wish(words)
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)


def hear() -> None:
    """Note that the run ends, so that the wish is not uttered again."""
    if Wish.newest is not None:
        Wish.newest = None
        signal.setitimer(signal.ITIMER_REAL, 0)
