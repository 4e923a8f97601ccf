"""Makes a wheel that needs nothing but libc: what pip asks (PEP 517), out of symcache's tree.

    pip wheel scripts/python

Nothing is fetched: `make MODE=portable python` builds the module; the libraries that it and ours
need go into symcache.libs, under names that no other module has. The wheel is tagged manylinux
by the newest version of glibc that one of them asks for. Needs patchelf and binutils
(scripts/deps.sh wheel). The same tree gives the same bytes.
"""
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# What each Linux has, in the words of manylinux.
EVERYWHERE = re.compile(r"(ld-linux.*|linux-vdso|libc|libm|libdl|librt|libpthread|libgcc_s)\.so\b")


MADE = ROOT + "/build/portable"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": MADE}).stdout


def version():
    with open(ROOT + "/libsymcache/write/version.c", encoding="utf-8") as f:
        return re.search(r'"symcache (.*?)"', f.read())[1]


def needed(path):
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", path))
    return [name for name in names if not EVERYWHERE.match(name)]


def closure(paths):
    """Libraries that they need, those of these, and so on: {soname: path}."""
    found, todo = {}, list(paths)
    while todo:
        path = todo.pop()
        places = dict(re.findall(r"(\S+) => (/\S+)", output("ldd", path)))
        for name in needed(path):
            if name not in found:
                found[name] = places[name]
                todo.append(places[name])
    return found


def self_contained(folder):
    """Copies the libraries in, and points everything at the copies."""
    modules = [f"{folder}/symcache/{name}" for name in sorted(os.listdir(folder + "/symcache")) if name.endswith(".so")]
    libraries = closure(modules)
    os.mkdir(folder + "/symcache.libs")
    names = {}
    for soname, path in libraries.items():
        with open(path, "rb") as f:
            digest = hashlib.sha256(f.read()).hexdigest()[:8]
        names[soname] = re.sub(r"\.so\b", f"-{digest}.so", soname, count=1)
        shutil.copy(os.path.realpath(path), f"{folder}/symcache.libs/{names[soname]}")
        modules.append(f"{folder}/symcache.libs/{names[soname]}")
    for path in modules:
        os.chmod(path, 0o755)
        subprocess.run(["strip", "--strip-unneeded", path], check=True)
        library = "/symcache.libs/" in path
        changes = [["--set-rpath", "$ORIGIN" if library else "$ORIGIN/../symcache.libs"]]
        changes += [["--set-soname", os.path.basename(path)]] if library else []
        changes += [["--replace-needed", name, names[name]] for name in needed(path)]
        for change in changes: # one by one: patchelf 0.14 takes one value for all
            subprocess.run(["patchelf", *change, path], check=True)
    return modules


def tag(modules):
    versions = [(0, 0)]
    for path in modules:
        versions += [(int(a), int(b)) for a, b in re.findall(r"GLIBC_(\d+)\.(\d+)", output("objdump", "-T", path))]
    return "cp311-abi3-manylinux_%d_%d_%s" % (*max(versions), platform.machine())


def metadata():
    return (f"Metadata-Version: 2.1\nName: symcache\nVersion: {version()}\n"
            "Summary: Build IDs and addresses to functions, files and lines\n"
            "License: MIT\nRequires-Python: >=3.11\n")


def pack(folder, wheel):
    """All files of the folder, in order, with RECORD as the last one."""
    stamp = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]
    paths = sorted(os.path.relpath(os.path.join(at, name), folder)
                   for at, _, names in os.walk(folder) for name in names)
    info = f"symcache-{version()}.dist-info"
    record = ""
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for path in paths + [info + "/RECORD"]:
            data = record.encode() + f"{info}/RECORD,,\n".encode()
            mode = 0o644
            if path != info + "/RECORD":
                with open(os.path.join(folder, path), "rb") as f:
                    data = f.read()
                mode = 0o755 if ".so" in path else 0o644
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record += f"{path},sha256={digest},{len(data)}\n"
            entry = zipfile.ZipInfo(path, stamp)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            out.writestr(entry, data)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = f"symcache-{version()}.dist-info"
    os.mkdir(os.path.join(metadata_directory, info))
    with open(os.path.join(metadata_directory, info, "METADATA"), "w", encoding="utf-8") as f:
        f.write(metadata())
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    missing = [tool for tool in ("patchelf", "readelf", "objdump", "strip") if not shutil.which(tool)]
    if missing:
        raise SystemExit(f"there is no {', '.join(missing)}: apt-get install patchelf binutils")
    subprocess.run(["make", "-C", ROOT, f"-j{os.cpu_count()}", "MODE=portable", "python", "PYTHON=" + sys.executable],
                   check=True, stdout=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(MADE + "/python/symcache", folder + "/symcache",
                        ignore=shutil.ignore_patterns("__pycache__"))
        name = tag(self_contained(folder))
        info = os.path.join(folder, prepare_metadata_for_build_wheel(folder))
        with open(info + "/WHEEL", "w", encoding="utf-8") as f:
            f.write(f"Wheel-Version: 1.0\nGenerator: symcache\nRoot-Is-Purelib: false\nTag: {name}\n")
        shutil.copy(ROOT + "/LICENSE", info)
        wheel = f"symcache-{version()}-{name}.whl"
        pack(folder, os.path.join(wheel_directory, wheel))
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("the sources of the module are symcache's: `make dist` packs them")
