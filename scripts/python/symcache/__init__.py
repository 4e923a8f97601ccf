"""Build IDs and addresses to functions, files and lines, by the caches of symcache.

    import symcache
    with symcache.Store() as store:            # the default one; Store(path, write=True)
        cache = store["8cb1c4b0"]              # the beginning of a build ID, or "libc.so.6"
        for frame in cache.frames(0x1234):     # innermost first
            print(frame.name, frame.path, frame.line)
        first, ids = cache.frames(addresses)   # numbers, of any buffer of uint64
"""
from typing import NamedTuple

from ._symcache import (Batch, Cache, Entry, Error, Filter, Frame, Variable, __version__,
                        demangle)
from ._symcache import Store as _Store

__all__ = ["Batch", "Cache", "Counts", "Entry", "Error", "Filter", "Frame", "Store", "Variable",
           "build_id", "demangle", "filter"]


class Counts(NamedTuple):
    """What Store.index() did with files."""
    indexed: int
    stayed: int  #: unchanged, or the store has better
    without_symbols: int
    failed: int


class Store(_Store):
    __doc__ = _Store.__doc__

    def index(self, paths, *, threads=1, debug_dirs=None, tags=(), again=False, follow=False,
              report=None):
        """Index ELF files, folders and archives; the store must be open for writing.

        report(path, code, message) is called for each file: 0 indexed, 1 it stayed, negative:
        it failed. Needs libsymcache-build.
        """
        from . import _build
        return Counts(*_build.index(self._handle, paths, threads, debug_dirs,
                                    "\n".join(tags) or None, 2 * again + 4 * follow, report))

    def profile(self, profile, format="own", *, value=None, force=False, return_addresses=False):
        """A profile, as bytes, with functions, files and lines: bytes, as `symcache profile`
        writes them. format: own, pprof, folded, jeprof, html. May still change. Needs libsymcache-build.
        """
        from . import _build
        return _build.profile(self._handle, profile, _PROFILES.index(format),
                              force + 2 * return_addresses, value)


_PROFILES = ("own", "pprof", "folded", "jeprof", "html")


def build_id(path):
    """The build ID of an ELF file, as bytes. Needs libsymcache-build."""
    from . import _build
    return _build.build_id(path)


def filter(log, store, format="text", threads=1):  # named as the command is
    """A whole log, str or bytes, with functions, files and lines; of the same type."""
    f = Filter(store, format, threads)
    out = f.feed(log) + f.finish()
    return out if isinstance(log, bytes) else out.decode("utf-8", "surrogateescape")
