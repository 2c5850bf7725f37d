# lit: every file in tests/ with a RUN line is a test of the real binary.
import os
import sys

import lit.formats

config.name = "tilec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".tile", ".mlir", ".test", ".ptx", ".ll"]
config.excludes = ["unit", "tools", "gpu", "replay", "fuzz", "diagnostics", "Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))

build = os.environ.get("TILEC_BUILD_DIR") or os.path.join(config.test_source_root, "..", "build")
build = os.path.abspath(build)
config.test_exec_root = os.path.join(build, "tests", "lit")
llvm = "/usr/lib/llvm-22/bin"
config.substitutions += [
    ("%tile-run", os.path.join(build, "tests", "tile-run")),
    ("%tilec-opt", os.path.join(build, "tests", "tilec-opt")),
    ("%tilec", os.path.join(build, "tilec")),
    ("%FileCheck", os.path.join(llvm, "FileCheck")),
    ("%not", os.path.join(llvm, "not")),
    ("%exits", f"{sys.executable} {os.path.join(config.test_source_root, 'tools', 'exits.py')}"),
    ("%values", f"{sys.executable} {os.path.join(config.test_source_root, 'tools', 'values.py')} "
                + os.path.join(build, "tilec")),
    ("%errors", f"{sys.executable} {os.path.join(config.test_source_root, 'tools', 'errors.py')} "
                + os.path.join(build, "tilec")),
    ("%npy", f"{sys.executable} {os.path.join(config.test_source_root, 'tools', 'npy.py')}"),
    ("%python", sys.executable),
    ("%root", os.path.abspath(os.path.join(config.test_source_root, ".."))),
]
# Tests see no settings and no cache of the user's.
config.environment["TILEC_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
config.environment["XDG_CONFIG_HOME"] = os.path.join(config.test_exec_root, "config")
config.environment["NO_COLOR"] = "1"
config.environment["LC_ALL"] = "C.UTF-8"
for name in ("TILEC_NVJITLINK", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
