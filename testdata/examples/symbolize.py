"""What Python can ask: python3 symbolize.py STORE FILE NAME

Indexes an ELF file; finds what is called NAME in it, by name and by line, and looks that up in the file,
in a log, and in an address space.
"""
import sys

import symcache


def show(store: symcache.Store, file: str, name: str) -> None:
    store.index([file])
    cache = store[symcache.build_id(file)]
    for function in cache.find(name):
        at = function.address
        print(f"{function.name} at {at:#x}, declared at {function.path}:{function.line}")
        for frame in cache.frames(at):  # innermost first
            pieces = cache.where(f"{frame.path}:{frame.line}")
            print(f"  begins at line {frame.line}, which has", *(f"{p.start:#x}-{p.end:#x}" for p in pieces))

        print(" ", symcache.filter(f"a log: {file}(+{at - cache.load_base + 1:#x})", store))

        process = symcache.Process(store)  # or Process.from_pid(pid, store), Process.from_core(path, store)
        process.add(0x10000000, 0x20000000, build_id=cache.build_id, origin="vaddr")
        for located in process.symbolize([0x10000000 + at, 1]):
            print(f"  {located.address:#x}:", located.why or located.frames[0].name)


if __name__ == "__main__":
    with symcache.Store(sys.argv[1], write=True) as of_mine:
        show(of_mine, *sys.argv[2:])
