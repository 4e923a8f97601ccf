"""Python's module against the program, on real look-ups: pytest.

SYMCACHE is the program. SUBJECT is the file that is looked into, and FUNCTION one of its
functions; without them it is the program, which must have its debug information then.
"""
import array
import ctypes
import gc
import json
import lzma
import os
import pickle
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import symcache

PROGRAM = os.environ["SYMCACHE"]
SUBJECT, FUNCTION = os.environ.get("SUBJECT", PROGRAM), os.environ.get("FUNCTION", "main")


def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1])


@pytest.fixture(scope="session")
def path(tmp_path_factory):
    return str(tmp_path_factory.mktemp("store") / "a.store")


@pytest.fixture(scope="session")
def store(path):
    told = []
    with symcache.Store(path, write=True) as s:
        counts = s.index([SUBJECT, "/dev/null"], threads=2, tags=["a=1", "b"],
                         report=lambda *args: told.append(args))
    assert counts.indexed == 1
    assert (SUBJECT, 0, "") in told
    with symcache.Store(path) as s:
        yield s


@pytest.fixture(scope="session")
def cache(store):
    return store[symcache.build_id(SUBJECT)]


@pytest.fixture(scope="session")
def addresses(cache):
    """10,000, of code mostly."""
    middle, = cache.addresses_of(FUNCTION)
    rng = random.Random(1)
    return [max(middle - 100_000, 0) + rng.randrange(900_000) for _ in range(10_000)]


def test_as_the_program(path, cache, addresses):
    out = subprocess.run([PROGRAM, "lookup", "--store", path, "--build-id", cache.build_id, "--json"],
                         input="\n".join(map(hex, addresses)), capture_output=True, text=True)
    lines = [json.loads(line) for line in out.stdout.splitlines()]
    assert len(lines) == len(addresses)
    found = 0
    for address, line in zip(addresses, lines):
        want = [(f["FunctionName"] or None, f["FileName"] and os.path.normpath(f["FileName"]) or None,
                 f["Line"], f["Column"]) for f in line.get("Symbol", [])]
        got = [(f.name, f.path, f.line, f.column) for f in cache.frames(address, symbols=True)]
        if want == [(None, None, 0, 0)]:
            want = []
        assert got == want, hex(address)
        found += bool(got)
    assert found > 5_000


def check_batch(cache, addresses, first, ids):
    for i, address in enumerate(addresses):
        frames = cache.frames(address)
        rows = ids[first[i]:first[i + 1]]
        assert len(rows) == len(frames)
        for frame, row in zip(frames, rows):
            assert (frame.line, frame.column) == (row[2], row[3])
            assert frame.name == cache.function(row[0])
            assert frame.path == cache.path(row[1])


def test_batches(cache, addresses):
    batch = cache.frames(array.array("Q", addresses))
    assert batch.ids.shape == (batch.first[-1], 4)
    check_batch(cache, addresses, batch.first, batch.ids.tolist())
    first, ids = array.array("Q", bytes(8 * 10_001)), array.array("I", bytes(16 * 50_000))
    assert cache.frames(array.array("Q", addresses), out=(first, ids)) == batch.first[-1]
    assert first.tolist() == batch.first.tolist()
    assert ids[:4 * first[-1]].tolist() == batch.ids.cast("B").cast("I").tolist()
    little = array.array("I", [7] * 8)
    assert cache.frames(array.array("Q", addresses), out=(first, little)) == batch.first[-1]
    empty = cache.frames(array.array("Q"))
    assert list(empty.first) == [0] and len(empty.ids) == 0


def test_numpy(cache, addresses):
    numpy = pytest.importorskip("numpy")
    a = numpy.array(addresses, dtype=numpy.uint64)
    first, ids = (numpy.asarray(x) for x in cache.frames(a))
    assert ids.dtype == numpy.uint32 and ids.shape[1] == 4
    out = numpy.zeros(len(a) + 1, numpy.uint64), numpy.zeros((len(ids) + 5, 4), numpy.uint32)
    assert cache.frames(a, out=out) == len(ids)
    assert (out[1][:len(ids)] == ids).all() and (out[0] == first).all()
    with pytest.raises((ValueError, BufferError)):
        cache.frames(a[::2])
    with pytest.raises(ValueError):
        cache.frames(a.astype(numpy.uint32))
    with pytest.raises(ValueError, match="unsigned"):
        cache.frames(a.astype(numpy.int64))
    assert cache.frames(a[7]) == cache.frames(addresses[7])
    a.flags.writeable = False
    cache.frames(a)
    with pytest.raises((ValueError, BufferError)):
        cache.frames(numpy.array([1], numpy.uint64), out=(a, ids))


def test_wrong_types(cache, store, path):
    for bad in ("x", 1.5, None, [1, 2], object()):
        with pytest.raises(TypeError):
            cache.frames(bad)
    with pytest.raises(OverflowError):
        cache.frames(-1)
    with pytest.raises(ValueError):
        cache.frames(memoryview(bytearray(17))[1:])
    with pytest.raises(ValueError):
        cache.frames(array.array("d", [1.0]))
    with pytest.raises(TypeError):
        cache.frames(array.array("Q", [1]), out=3)
    with pytest.raises(KeyError):
        store["no such file"]
    with pytest.raises(KeyError):
        store[b"\1\2\3"]
    assert store.get("no such file") is None and store.get(b"\1", 5) == 5
    assert cache.build_id in store and b"\1" not in store
    with pytest.raises(FileNotFoundError):
        symcache.Store("/nonexistent/store")
    with pytest.raises(symcache.Error) as e:
        symcache.Store("/proc/self/exe")
    assert e.value.code == -5
    with pytest.raises(ValueError):
        store.tag(cache.build_id, "c")
    with pytest.raises(ValueError):
        symcache.Filter(store, format="no such")
    closed = symcache.Store(path)
    closed.close()
    with pytest.raises(ValueError):
        closed[cache.build_id]
    with pytest.raises(OSError):
        symcache.Cache("/nonexistent")


def test_explicit(store, cache):
    name = os.path.basename(os.path.realpath(SUBJECT))
    assert store.by_build_id(cache.build_id[:9]).build_id == cache.build_id
    assert store.by_build_id(bytes.fromhex(cache.build_id)).build_id == cache.build_id
    assert store.by_name(name).build_id == cache.build_id
    with pytest.raises(KeyError):
        store.by_name(cache.build_id)
    with pytest.raises(KeyError):
        store.by_build_id("00" * 20)
    with pytest.raises((KeyError, symcache.Error, ValueError)):
        store.by_build_id(name)


def test_entries(store, cache):
    entry, = store
    assert entry.build_id == cache.build_id
    assert entry.source_path == os.path.realpath(SUBJECT)
    assert entry.tags == ("a=1", "b")
    assert store.entries(cache.build_id[:5]) == [entry] and store.entries("f" + "0" * 30) == []


def test_cache_file(cache, tmp_path, addresses):
    file = tmp_path / "a.symcache"
    file.write_bytes(cache.bytes)
    other = symcache.Cache(file)
    assert other.build_id == "" and other.load_base == cache.load_base
    for a in addresses[:200]:
        assert other.frames(a) == cache.frames(a)


def test_packed_entries(cache, path, tmp_path, addresses):
    packed = str(tmp_path / "packed.store")
    shutil.copy(path, packed)
    subprocess.run([PROGRAM, "compact", "--quiet", "--pack", "0", "--store", packed], check=True)
    assert os.path.getsize(packed) < os.path.getsize(path) / 2
    with symcache.Store(packed) as s:
        other = s[cache.build_id]
        assert other.bytes == cache.bytes
        for a in addresses[:200]:
            assert other.frames(a) == cache.frames(a)


def test_writing(tmp_path):
    reader_path = str(tmp_path / "b.store")
    with symcache.Store(reader_path, write=True) as s:
        s.index([sys.executable, PROGRAM])
        n = len(list(s))
        first = list(s)[0]
        with symcache.Store(reader_path) as reader:
            kept = reader[first.build_id]
            s.tag(first.build_id, "later")
            assert "later" in s.entries(first.build_id)[0].tags
            s.remove(first.build_id)
            assert len(list(reader)) == n
            reader.refresh()
            assert len(list(reader)) == n - 1
        with pytest.raises(KeyError):
            s.remove(first.build_id)
    assert kept.build_id == first.build_id
    kept.frames(0x1234)


def markup(cache, address):
    return (f"{{{{{{reset}}}}}}\n{{{{{{module:0:self:elf:{cache.build_id}}}}}}}\n"
            f"{{{{{{mmap:0x10000000:0x40000000:load:0:rx:0x0}}}}}}\n{{{{{{pc:{0x10000000 + address:#x}}}}}}}\n")


def test_filter(store, cache, path):
    log = markup(cache, cache.addresses_of(FUNCTION)[0])
    want = subprocess.run([PROGRAM, "filter", "--store", path], input=log, capture_output=True,
                          text=True).stdout
    assert symcache.filter(log, store) == want
    assert symcache.filter(log.encode(), store, threads=2) == want.encode()
    f = symcache.Filter(store, "json")
    out = b"".join(f.feed(c) for c in log) + f.flush() + f.finish()
    assert FUNCTION.encode() in out and all(json.loads(line) for line in out.splitlines())
    with symcache.Store(path) as other:
        f = symcache.Filter(other)
    assert FUNCTION in (f.feed(log) + f.finish()).decode()
    assert symcache.filter("plain\n", None) == "plain\n"


def test_profile(store, cache, addresses):
    """A profile is bytes; its places become what the cache says of them."""
    places = [int(a) for a in addresses[:20]]
    name = os.path.basename(SUBJECT).removesuffix(".debug")
    folded = "".join(f"root;{name}+0x{a:x} {n}\n" for n, a in enumerate(places, 1)).encode()
    named = store.profile(folded)
    assert store.profile(memoryview(folded)) == named
    for line, a, n in zip(named.decode().splitlines(), places, range(1, 21)):
        frames = cache.frames(a)
        assert line.endswith(f" {n}") and line.startswith("root;")
        if frames:
            assert len(line.rsplit(" ", 1)[0].split(";")) >= 1 + len(frames)
            assert name + "+0x" not in line
    with pytest.raises(symcache.Error, match="lines do not end in numbers") as e:
        store.profile(b"no profile")
    assert e.value.code == -6  # SYMCACHE_EUNSUPPORTED
    with pytest.raises(symcache.Error, match="no form but their own"):
        store.profile(folded, "pprof")
    with pytest.raises(ValueError):
        store.profile(folded, "wrong")
    with pytest.raises(TypeError):
        store.profile("text")


def test_index_errors(tmp_path, path):
    with symcache.Store(str(tmp_path / "c.store"), write=True) as s:
        with pytest.raises(ZeroDivisionError):
            s.index([PROGRAM], report=lambda *_: 1 // 0)
        bad = tmp_path / "bad"
        bad.write_bytes(open(PROGRAM, "rb").read(5000))
        assert s.index([bad]).failed == 1
    with symcache.Store(path) as s, pytest.raises(ValueError):
        s.index([PROGRAM])


def test_threads_and_fork(path, cache, addresses):
    wrong = []

    def look():
        with symcache.Store(path) as s:
            c = s[cache.build_id]
            for a in addresses[:500]:
                if c.frames(a) != cache.frames(a):
                    wrong.append(a)
            c.frames(array.array("Q", addresses))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for t in threads:
        t.start()
    pid = os.fork()
    if not pid:
        try:
            with symcache.Store(path) as s:
                good = s[cache.build_id].frames(addresses[0]) == cache.frames(addresses[0])
            os._exit(0 if good else 1)
        except BaseException:
            os._exit(2)
    for t in threads:
        t.join()
    assert os.waitpid(pid, 0)[1] == 0
    assert not wrong


def test_asked_while_it_answers(store, cache, addresses):
    """The garbage collector may run code in the middle of an answer that asks again."""
    some = [a for a in addresses if cache.frames(a)][:300]
    want = [cache.frames(a) for a in some]
    assert any(len(frames) > 2 for frames in want)
    inside, asked = [], 0

    def ask(phase, _):
        nonlocal asked
        if inside:
            return
        inside.append(1)
        for i in range(3):
            asked += 1
            k = asked * 7919 % len(some)
            if asked % 50 == 0:
                list(store)
            elif cache.frames(some[k]) != want[k]:
                wrong.append(some[k])
        inside.pop()

    def answers():
        for k in range(len(some)):
            gc.set_threshold(1 + k % 5)
            got = cache.frames(some[k])
            if got != want[k]:
                wrong.append(some[k])

    wrong, threshold, interval = [], gc.get_threshold(), sys.getswitchinterval()
    gc.callbacks.append(ask)
    try:
        for _ in range(3):
            answers()
        assert asked > len(some)
        sys.setswitchinterval(1e-6)
        threads = [threading.Thread(target=answers) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        gc.callbacks.remove(ask)
        gc.set_threshold(*threshold)
        sys.setswitchinterval(interval)
    assert not wrong


def test_leaks(path, cache, addresses):
    a = array.array("Q", addresses)

    def once():
        with symcache.Store(path) as s:
            s[cache.build_id].frames(addresses[0])
            list(s)
            s.get("none")
        cache.frames(a)
        symcache.filter("plain\n", None)
        try:
            symcache.Store("/nonexistent/store")
        except OSError:
            pass

    for _ in range(200):
        once()
    gc.collect()
    before = rss()
    counts = sys.getrefcount(None), sys.getrefcount(symcache.Frame)
    for _ in range(1000):
        once()
    gc.collect()
    assert rss() - before < 1000
    assert abs(sys.getrefcount(None) - counts[0]) < 100
    assert abs(sys.getrefcount(symcache.Frame) - counts[1]) < 10


def test_demangle():
    assert symcache.demangle("_ZN3foo3barEi") == "foo::bar(int)"
    assert symcache.demangle("main") == "main"
    assert symcache.__version__.count(".") == 2


def test_names_and_lines(cache):
    address, = cache.addresses_of(FUNCTION)
    found, = [d for d in cache.find(FUNCTION) if not d.data and d.address == address]
    assert found.linkage_name == FUNCTION and found.size > 0
    assert found in cache.match(FUNCTION[:2] + "*") and len(cache.match("*")) > 100
    assert cache.find("no such name") == [] == cache.match("no such *")
    frame = next(f for f in cache.frames(address) if f.path)
    ranges = cache.where(f"{frame.path}:{frame.line}")
    assert any(r.start <= address < r.end and r.line == frame.line for r in ranges)
    assert cache.where("no such file.c:3") == []
    with pytest.raises(ValueError):
        cache.where("no line")
    before = rss()
    for _ in range(3000):
        cache.find(FUNCTION)
        cache.where(f"{frame.path}:{frame.line}")
    assert rss() - before < 200


def test_locals_and_sources(tmp_path, cache):
    (tmp_path / "src").mkdir()
    source = tmp_path / "src" / "a.c"
    source.write_text("int twice(int n)\n{\n\tint all = 2 * n;\n\treturn all;\n}\n"
                      "int main(int n, char **v) { return twice(n) && !v; }\n")
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    subprocess.run(["cc", "-g", "-O0", "-o", tmp_path / "a", source], check=True)
    with symcache.Store(tmp_path / "l.store", write=True) as store:
        store.index([tmp_path / "a"], locals=True)
        has = store[symcache.build_id(tmp_path / "a")]
        at, = has.addresses_of("twice")
        n, all_ = has.locals(at)
        assert (n.name, n.function, n.path, n.line, n.size) == ("n", "twice", str(source), 1, 4)
        assert (all_.name, all_.line, all_.tag) == ("all", 3, None) and isinstance(all_.offset, int)
        assert has.locals(1) == []
        with pytest.raises(symcache.Error):
            cache.locals(1)
        sources = symcache.Sources(store=store)
        for of in has, None:
            assert sources.text(str(source), of) == source.read_text()
    assert sources.text("/etc/passwd") is None is sources.text("/none.c")
    assert symcache.Sources([tmp_path]).text("/gone/src/a.c").startswith("int twice")
    assert symcache.Sources(path_maps=[f"/x={tmp_path}"]).text("/x/src/a.c").startswith("int twice")
    with pytest.raises(ValueError):
        symcache.Sources(path_maps=["/x"])
    with pytest.raises(TypeError):
        sources.text(b"/x")
    before = rss()
    for _ in range(3000):
        has.locals(at)
        symcache.Sources([tmp_path]).text("/gone/src/a.c", has)
    assert rss() - before < 200


def test_process(store, cache):
    address, = cache.addresses_of(FUNCTION)
    process = symcache.Process(store)
    process.add(0x10000000, 0x20000000, build_id=cache.build_id, path="/x", origin="vaddr")
    process.add(0x30000000, 0x40000000, path="/none")
    process.add_maps("50000000-50001000 r-xp 00000000 08:02 1    /none/too\n")
    at = [0x10000000 + address, 0x10000001 + address, 0x30000000, 0x50000000, 1]
    exact, after, none, too, nowhere = process.symbolize(at)
    assert exact.frames == cache.frames(address) and exact.why == ""
    assert (exact.address, exact.vaddr, exact.path, exact.build_id) == (at[0], address, "/x", cache.build_id)
    assert process.symbolize(at[1:2], return_addresses=True)[0].vaddr == address
    assert none.frames == () and none.why and too.path == "/none/too" and nowhere.path == ""
    with pytest.raises(OverflowError):
        process.symbolize([-1])
    with pytest.raises(ValueError):
        process.add(2, 2)
    with pytest.raises(TypeError):
        symcache.Process("store")
    with pytest.raises(FileNotFoundError):
        process.add_kernel("0000000000000000 T _text\n")
    own = symcache.Process.from_pid(0, store)
    assert isinstance(own, symcache.Process)
    start = next(int(r.split("-")[0], 16) for r in open("/proc/self/maps") if "libc.so" in r and "r-xp" in r)
    located, = own.symbolize([start])
    assert "libc.so" in located.path and located.why
    before = rss()
    for _ in range(5000):
        process.symbolize(at)
    assert rss() - before < 200


def test_stacks(store, tmp_path):
    child = subprocess.Popen([sys.executable, "-c", "print(1, flush=True); import time; time.sleep(100)"],
                             stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"1\n"
    try:
        threads = symcache.Process.stacks(child.pid, store)
    except OSError as e:
        pytest.skip(f"a process may not be traced here: {e}")
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    assert [t.tid for t in threads] == [child.pid] and not threads[0].died and threads[0].end
    assert threads[0].frames[0].pc and "/" in threads[0].frames[0].path
    with pytest.raises(OSError):
        symcache.Core(tmp_path / "none")
    (tmp_path / "text").write_text("no core")
    with pytest.raises(symcache.Error) as e:  # as what the other library says of damaged files
        symcache.Core(tmp_path / "text", store)
    assert e.value.code == -5  # SYMCACHE_EFORMAT


def test_many_of_a_name(tmp_path):
    if not shutil.which("cc"):
        pytest.skip("there is no compiler")
    (tmp_path / "twin.c").write_text("__attribute__((used)) static int twin(int x) { return x + 1; }\n")
    subprocess.run(["cc", "-g", "-fPIC", "-c", "twin.c"], cwd=tmp_path, check=True)
    subprocess.run(["cc", "-shared", "-Wl,--build-id", "-o", "twins.so"] + 70 * ["twin.o"], cwd=tmp_path, check=True)
    with symcache.Store(tmp_path / "store", write=True) as store:
        store.index([tmp_path / "twins.so"])
        assert len(set(store["twins.so"].addresses_of("twin"))) == 70


CORES = Path(__file__).parents[4] / "shared" / "data" / "cores"


def test_cores_and_traces(tmp_path):
    if not CORES.is_dir():
        pytest.skip(f"there is no {CORES}")
    core = tmp_path / "core"
    core.write_bytes(lzma.decompress((CORES / "throwing.core.xz").read_bytes()))
    with symcache.Store(tmp_path / "store", write=True) as store:
        assert store.index([CORES / "bin" / "throwing.debug"]).indexed == 1
        threads = symcache.Core(core, store).threads
        assert threads[0].died and len(threads) == 3
        guarded, = [f for f in threads[0].frames if f.frames and "guarded" in f.frames[0].name]
        process = symcache.Process.from_core(core, store)
        located, = process.symbolize([guarded.pc], return_addresses=True)
        assert guarded.frames[0].name.startswith(located.frames[0].name)  # of the symbol table: "(.cold)"
        assert (located.vaddr, located.path) == (guarded.vaddr, guarded.path)
        said = subprocess.run([Path(__file__).parents[2] / "from_core.py", "trace", core, tmp_path / "run.tf",
                               "--stack", "100000", "--elf", CORES / "bin" / "throwing"],
                              capture_output=True, text=True, check=True).stdout
        traced = symcache.Trace(tmp_path / "run.tf", said.split()[1:2], store).threads
        assert [t.tid for t in traced] == [0, 1, 2] and traced[0].name == "tracepoint 1"
        assert guarded.pc in [f.pc for f in traced[0].frames]
        with pytest.raises(symcache.Error):
            symcache.Trace(core, said.split()[1:2], store)
        with pytest.raises(ValueError):
            symcache.Trace(core, [], store)
    with pytest.raises(OSError):
        process.add_core(tmp_path / "none")


def test_files(tmp_path):
    with symcache.Store(tmp_path / "empty", write=True) as store:
        process = symcache.Process.from_pid(0, store)
        start = next(int(r.split("-")[0], 16) for r in open("/proc/self/maps") if "libc.so" in r and "r-xp" in r)
        assert "not in store" in process.symbolize([start])[0].why
        process = symcache.Process.from_pid(0, store)
        process.use_files(["/nonexistent"])
        assert "not in store" not in process.symbolize([start])[0].why
        with pytest.raises(ValueError):
            process.use_files()


def test_tree_on_a_web_server(tmp_path):
    try:
        ctypes.CDLL("libcurl.so.4")
    except OSError:
        pytest.skip("there is no libcurl4")
    libc = next(r.split()[5] for r in open("/proc/self/maps") if "libc.so" in r)
    subprocess.run([PROGRAM, "index", "-q", "--store", tmp_path / "a", libc], check=True)
    subprocess.run([PROGRAM, "export", "-q", "--store", tmp_path / "a", "-o", tmp_path / "tree"], check=True)
    server = subprocess.Popen([sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1",
                               "-d", tmp_path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = int(server.stdout.readline().split()[5])
        with symcache.Store(tmp_path / "a") as store, symcache.Store(tmp_path / "empty", write=True) as empty:
            cache = store[os.path.basename(libc)]
            address = cache.find("malloc")[0].address
            process = symcache.Process(empty)
            process.use_files(["/nonexistent"], urls=[f"http://127.0.0.1:{port}/tree"])
            process.add(0x10000, 0x10000000, path="/gone/libc.so.6", build_id=cache.build_id, origin="vaddr")
            there = process.symbolize([0x10000 + address])[0]
            assert [f.name for f in there.frames] == [f.name for f in cache.frames(address)], there.why
            with pytest.raises(ValueError):
                symcache.Process(empty).use_files(urls=["file:///etc"])
    finally:
        server.kill()
        server.wait()


def test_filter_settings(store, cache):
    address = cache.addresses_of(FUNCTION)[0] - cache.load_base
    log = f"/x/other(+{address + 1:#x}) [{0x550000000001 + address:#x}]\n/x/none(+0x10) [0x7f0000000010]\n"
    f = symcache.Filter(store)
    f.set("module", "other=" + cache.build_id)
    assert f.stats()["bytes"] == 0 and f.missing() == []
    assert FUNCTION.encode() in f.feed(log) + f.finish()
    assert f.stats() == {**f.stats(), "bytes": len(log), "frames": 2, "found": 1}
    missing, = f.missing()
    assert "none" in missing.name and missing.build_id == "" and missing.frames == 1
    assert missing.no_module and not missing.no_lines and not missing.other_build
    with pytest.raises(ValueError):
        f.set("demux", "")
    f = symcache.Filter(store)
    f.set("group", "yes")
    assert f.feed(log) == b"" and b"1 stack in 1 group" in f.finish()
    for name, value in (("dialect", "x"), ("x", "")):
        with pytest.raises(ValueError):
            symcache.Filter(store).set(name, value)


def test_what_is_found_can_be_pickled(store, cache):
    address, = cache.addresses_of(FUNCTION)
    process = symcache.Process(store)
    process.add(0x10000000, 0x20000000, build_id=cache.build_id, origin="vaddr")
    found = [cache.frames(address), cache.find(FUNCTION), process.symbolize([0x10000000 + address]),
             symcache.Thread(1, "", False, (symcache.StackFrame(1, 2, "", b"", 0, cache.frames(address)),), "")]
    assert pickle.loads(pickle.dumps(found)) == found
    assert pickle.loads(pickle.dumps(store))[cache.build_id].frames(address) == cache.frames(address)
    for handle in (cache, process):
        with pytest.raises(TypeError):
            pickle.dumps(handle)
