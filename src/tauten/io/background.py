"""One thread that reads ahead."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Ahead(Generic[Item]):
    """What a generator yields, made in another thread up to `depth` items ahead.

    An error comes out where its item would have come. The generator is made in that thread, and closed there.
    """

    def __init__(self, make: Callable[[], Iterator[Item]], depth: int = 2) -> None:
        self._make, self._depth = make, depth
        self._ready: deque[Item] = deque()
        self._error: BaseException | None = None
        self._over = self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="tauten-reader", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            items = self._make()
            try:
                for item in items:
                    if not self._put(item):
                        return
            finally:
                getattr(items, "close", lambda: None)()
        except BaseException as error:
            self._error = error
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def _put(self, item: Item) -> bool:
        """Wait for room; False where nobody waits for items any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._ready) < self._depth)
            self._ready.append(item)
            self._changed.notify_all()
            return not self._closed

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._over)
            if self._ready:
                item = self._ready.popleft()
                self._changed.notify_all()
                return item
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        raise StopIteration

    def close(self, wait: float) -> None:
        """Stop reading; waits some seconds for the thread, which may itself wait for input."""
        with self._changed:
            self._closed = True
            self._ready.clear()
            self._changed.notify_all()
        self._thread.join(wait)
