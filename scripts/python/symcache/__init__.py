"""Build IDs and addresses to functions, files and lines, by the caches of symcache.

    import symcache
    with symcache.Store() as store:            # the default one; Store(path, write=True)
        cache = store["8cb1c4b0"]              # the beginning of a build ID, or "libc.so.6"
        for frame in cache.frames(0x1234):     # innermost first
            print(frame.name, frame.path, frame.line)
        first, ids = cache.frames(addresses)   # numbers, of any buffer of uint64
        cache.find("shop::total"); cache.where("shop.cc:23")  # the other way round
        symcache.Process.from_pid(4242, store).symbolize([0x7f5e0f2a1234])
        symcache.Process.from_core("core.4242", store).symbolize([0x7f5e0f2a1234])
        symcache.Core("core.4242", store).threads
"""
import os
from typing import NamedTuple

from ._symcache import (Batch, Cache, Definition, Entry, Error, Filter, Frame, LineRange, Local, Located,
                        Missing, Variable, __version__, demangle)
from ._symcache import Process as _Process
from ._symcache import Store as _Store

__all__ = ["Batch", "Cache", "Core", "Counts", "Definition", "Entry", "Error", "Filter", "Frame",
           "LineRange", "Local", "Located", "Missing", "Process", "Sources", "StackFrame", "Store", "Thread",
           "Trace", "Variable", "build_id", "demangle", "filter"]


class Counts(NamedTuple):
    """What Store.index() did with files."""
    indexed: int
    stayed: int  #: unchanged, or the store has better
    without_symbols: int
    failed: int


class Store(_Store):
    __doc__ = _Store.__doc__

    def index(self, paths, *, threads=1, debug_dirs=None, tags=(), again=False, follow=False,
              locals=False, report=None):
        """Index ELF files, folders and archives; the store must be open for writing. locals: with
        local variables, for Cache.locals().

        report(path, code, message) is called for each file: 0 indexed, 1 it stayed, negative:
        it failed. Needs libsymcache-build.
        """
        from . import _build
        return Counts(*_build.index(self._handle, paths, threads, debug_dirs,
                                    "\n".join(tags) or None, 2 * again + 4 * follow + 8 * locals, report))

    def profile(self, profile, format="own", *, value=None, force=False, return_addresses=False,
                jit_dir=None):
        """A profile, as bytes, with functions, files and lines: bytes, as `symcache profile`
        writes them. format: own, pprof, folded, jeprof, html. jit_dir: a folder with perf-PID.map,
        names of code that was made at run time, for perf.data. Needs libsymcache-build.
        """
        from . import _build
        return _build.profile(self._handle, profile, _PROFILES.index(format),
                              force + 2 * return_addresses, value,
                              None if jit_dir is None else os.fsencode(jit_dir))

    def __reduce__(self):
        """Another process opens the file anew, for reading."""
        return type(self), (self.path,)


class StackFrame(NamedTuple):
    """A place on a stack."""
    pc: int  #: as it stands in the register or on the stack
    vaddr: int  #: in the ELF file, if there is a cache
    path: str  #: of the module; "": none
    build_id: bytes
    how: int  #: it was found: 0 the registers, 1 a signal's, 2 unwind information, 3 to 5 guessed
    frames: tuple[Frame, ...]  #: functions that are inlined there, innermost first


class Thread(NamedTuple):
    """A stack."""
    tid: int
    name: str
    died: bool  #: it is the one that a core file is of
    frames: tuple[StackFrame, ...]
    end: str  #: why there are no more


def _stacks(store, path, pid, modules=None):
    from . import _build
    return [Thread(tid, name, died, tuple(StackFrame(*f[:5], tuple(map(Frame, f[5]))) for f in frames), end)
            for tid, name, died, frames, end in _build.stacks(store and store._handle, path, pid, modules)]


class Core:
    """A core file or minidump: Core(path, store).threads. Needs libsymcache-build."""

    def __init__(self, path, store=None):
        self.threads = _stacks(store, path, 0)


class Trace:
    """A GDB trace file: Trace(path, modules, store).threads has the stack of each trace frame, whose
    number is its tid. modules: what was loaded, FILE[@BIAS] or BUILDID[@BIAS], BIAS in hex. Needs
    libsymcache-build.
    """

    def __init__(self, path, modules, store=None):
        self.threads = _stacks(store, path, 0, modules)


class Process(_Process):
    __doc__ = _Process.__doc__

    @classmethod
    def from_pid(cls, pid, *stores):
        """The address space of a process that runs; 0: of this one."""
        process = cls(*stores)
        process.add_process(pid)
        return process

    @classmethod
    def from_core(cls, path, *stores):
        """The address space of a core file or minidump. Needs libsymcache-build."""
        process = cls(*stores)
        process.add_core(path)
        return process

    def add_core(self, path):
        """Map what a core file or minidump has. Needs libsymcache-build."""
        from . import _build
        _build.add_core(self._handle, path)

    def use_files(self, debug_dirs=None, *, debuginfod=False, urls=None, verify_key=None):
        """Look for what no store has in debug folders (None: /usr/lib/debug), in the files themselves,
        in trees on web servers ('symcache export --shape tree') by their URLs, and, if debuginfod is
        true, on the servers in $DEBUGINFOD_URLS. verify_key is the path of the public key that must have
        signed the trees. Needs libsymcache-build.
        """
        from . import _build
        key = None if verify_key is None else os.fsdecode(verify_key)
        _build.use_files(self._handle, debug_dirs, 1 if debuginfod else 0, urls, key)

    @staticmethod
    def stacks(pid, store=None):
        """The stacks of a process that runs: a list of Thread. It takes the rights of a debugger,
        and libsymcache-build.
        """
        return _stacks(store, None, pid)


class Sources:
    """The text of sources: Sources(folders).text(frame.path, cache). Needs libsymcache-build.

    path_maps are "FROM=TO": what lies below FROM is tried below TO first; folders are tried last, with
    the longest end of the path that one of them has. Debug information may hold sources: with a store,
    that of its files is asked before all else, for paths of a cache.
    """

    def __init__(self, folders=(), *, path_maps=(), store=None, debug_dirs=None):
        from . import _build
        self._handle = _build.source_reader(path_maps, folders, store and store._handle, debug_dirs)

    def text(self, path, cache=None):
        """The text of a source, bytes that are not UTF-8 as surrogates; None: it is not there, or it
        is not called as sources are and lies in no folder.
        """
        from . import _build
        text = _build.source_text(self._handle, cache and cache._handle, path)
        return None if text is None else text.decode("utf-8", "surrogateescape")


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
