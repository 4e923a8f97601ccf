"""For wheels, where the libraries are installed: pip wheel scripts/python."""
import shlex
import subprocess

from setuptools import Extension, setup


def flags(what, *options):
    out = subprocess.run(["pkg-config", *options, what], check=True, capture_output=True, text=True)
    return shlex.split(out.stdout)


def extension(name, sources, package):
    return Extension(f"symcache.{name}", sources, py_limited_api=True,
                     define_macros=[("Py_LIMITED_API", "0x030b0000")],
                     extra_compile_args=flags(package, "--cflags"),
                     extra_link_args=flags(package, "--libs"))


setup(version=flags("symcache", "--modversion")[0],
      ext_modules=[extension("_symcache", ["module.c", "store.c", "cache.c", "filter.c"], "symcache"),
                   extension("_build", ["build.c"], "symcache-build")],
      options={"bdist_wheel": {"py_limited_api": "cp311"}})
