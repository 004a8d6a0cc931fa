"""How an extension's handlers reach the registries, and how they leave them again (fallback/F-17 to fallback/F-20).

An extension does not enter its handlers itself: it collects them while it loads, and the runner installs one entry
for each seam that the extension used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from labsim.fallback.events import Emit, unheard
from labsim.fallback.registry import DeleteRequest, Disposer, FallbackRegistries, WriteRequest, consult
from labsim.terms import Seam

C = TypeVar("C")
R = TypeVar("R", WriteRequest, DeleteRequest)


class ExtensionFallbacks(Generic[C]):
    """The handlers that one extension, `name`, registered. Each is called with a request and a context."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.write_handlers: list[Callable[[WriteRequest, C], object]] = []
        self.delete_handlers: list[Callable[[DeleteRequest, C], object]] = []

    def register_write(self, handler: Callable[[WriteRequest, C], object]) -> None:
        """Add a write handler. It needs an installed write entry: a first one after that is too late
        (fallback/F-18).
        """
        self.write_handlers.append(handler)

    def register_delete(self, handler: Callable[[DeleteRequest, C], object]) -> None:
        """Add a delete handler; the rule of `register_write` holds for this seam by itself."""
        self.delete_handlers.append(handler)


class FallbackInstallation(Generic[C]):
    """The entries of one runner in the registries of its process.

    make_context: called with the extension's name, once for each request that reaches the extension
    (fallback/F-19). As a context manager it removes its entries at the end of the block, whatever happened inside:
    a runner awaits its shutdown handlers in such a block (fallback/F-20).
    """

    def __init__(
        self,
        registries: FallbackRegistries,
        make_context: Callable[[str], C],
        *,
        emit: Emit = unheard,
    ) -> None:
        self._registries = registries
        self._make_context = make_context
        self._emit = emit
        self._disposers: list[Disposer] = []

    def install(self, extensions: Iterable[ExtensionFallbacks[C]]) -> None:
        """Replace the entries of an earlier call by one for each extension and seam in use (fallback/F-17,
        fallback/F-20).
        """
        self.remove()
        for extension in extensions:  # a kind that has no handler now gets no entry later (fallback/F-18)
            if extension.write_handlers:
                entry = self._entry(Seam.WRITE, extension.name, extension.write_handlers)
                self._disposers.append(self._registries.writes.add(entry))
            if extension.delete_handlers:
                entry_for_deletes = self._entry(Seam.DELETE, extension.name, extension.delete_handlers)
                self._disposers.append(self._registries.deletes.add(entry_for_deletes))

    def remove(self) -> None:
        """Take every entry out; harmless if there is none."""
        while self._disposers:
            self._disposers.pop()()

    def __enter__(self) -> FallbackInstallation[C]:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _entry(self, seam: Seam, name: str, handlers: list[Callable[[R, C], object]]) -> Callable[[R], bool]:
        # The list itself, not a copy: a handler added later to an installed entry does take effect (fallback/F-18).
        def entry(request: R) -> bool:
            context = self._make_context(name)  # a new one for each request (fallback/F-19)
            return consult(
                handlers,
                lambda handler: handler(request, context),
                seam=seam,
                target=request.dst,
                emit=self._emit,
                extension=name,
            )

        return entry
