"""Launches what `tilec build` leaves behind, a .cubin and its launch plan, through the CUDA driver alone (ctypes).

The driver works in whatever context is current on the thread, such as torch's primary one, and arrays are anything with
`data_ptr()`, `shape`, `dtype` and `is_contiguous()`. Everything that can be worked out before a launch is: a launch is
one call of cuLaunchKernelEx.
"""
import ctypes
import math

from plan import DTYPES, PlanError, encode_value, evaluate, row_major

MAX_DYNAMIC_SHARED, NON_PORTABLE_CLUSTER = 8, 14  # CUfunction_attribute
CLUSTER_DIMENSION, PROGRAMMATIC_SERIALIZATION = 4, 6  # CUlaunchAttributeID
MULTIPROCESSORS, L2_BYTES = 16, 38  # CUdevice_attribute
TENSOR_MAP_BYTES, TENSOR_MAP_ALIGN, TENSOR_MAP_GRANULE = 128, 64, 16
PORTABLE_CLUSTER = 8
PRINT_BYTES = 1 << 20

# CUtensorMapDataType; other dtypes travel as bytes.
TENSOR_MAP_TYPES = {"i16": 1, "u16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6, "f32": 7, "tf32": 7,
                    "f64": 8, "bf16": 9, "f4e2m1": 13}


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint)]


class DriverError(Exception):
    """A call of the CUDA driver failed."""


def aligned(data, align=TENSOR_MAP_ALIGN):
    """Host memory at an aligned address that holds `data`: (owner, address)."""
    owner = ctypes.create_string_buffer(len(data) + align)
    address = -(-ctypes.addressof(owner) // align) * align
    ctypes.memmove(address, bytes(data), len(data))
    return owner, address


class Driver:
    def __init__(self, library="libcuda.so.1"):
        self.cuda = ctypes.CDLL(library)
        device = ctypes.c_int()
        self("cuCtxGetDevice", ctypes.byref(device))
        self.device = device.value
        self.multiprocessors = self.attribute(MULTIPROCESSORS)

    def __call__(self, name, *args):
        code = getattr(self.cuda, name)(*args)
        if code:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(code, ctypes.byref(text))
            raise DriverError(f"{name}: {(text.value or b'?').decode()} ({code})")

    def attribute(self, which):
        value = ctypes.c_int()
        self("cuDeviceGetAttribute", ctypes.byref(value), which, self.device)
        return value.value

    def load(self, image):
        """A module from a cubin or PTX text."""
        module = ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), ctypes.create_string_buffer(image))
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        self("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def resident_blocks(self, function, launch):
        """Blocks of the grid (clusters, where a block is one) that the device holds at once."""
        count, size = ctypes.c_int(), math.prod(launch["cluster"])
        shared = launch["dynamic_shared_bytes"]
        if size == 1:
            self("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(count), function, launch["threads"],
                 ctypes.c_size_t(shared))
            return count.value * self.multiprocessors
        config = self.config(launch["cluster"], launch)
        self("cuOccupancyMaxActiveClusters", ctypes.byref(count), function, ctypes.byref(config))
        return count.value

    def entry(self, module, launch):
        """The function of one launch, allowed the shared memory and the cluster it needs."""
        function = self.function(module, launch["entry"])
        if launch["dynamic_shared_bytes"]:
            self("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, launch["dynamic_shared_bytes"])
        if math.prod(launch["cluster"]) > PORTABLE_CLUSTER:
            self("cuFuncSetAttribute", function, NON_PORTABLE_CLUSTER, 1)
        return function

    def config(self, grid, launch):
        attributes = (LaunchAttribute * 2)()
        count = 0
        if math.prod(launch["cluster"]) > 1:
            attributes[count].id = CLUSTER_DIMENSION
            attributes[count].value[:3] = launch["cluster"]
            count += 1
        if launch["dependent_launch"]:
            attributes[count].id = PROGRAMMATIC_SERIALIZATION
            attributes[count].value[0] = 1
            count += 1
        return LaunchConfig((ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(launch["threads"], 1, 1),
                            launch["dynamic_shared_bytes"], None, attributes, count)

    def prepare(self, function, grid, launch, params):
        """A call that launches on a stream, with the parameters' bytes fixed."""
        config = self.config(grid, launch)
        owners, addresses = zip(*map(aligned, params)) if params else ((), ())
        pointers = (ctypes.c_void_p * max(len(params), 1))(*addresses)
        reference = ctypes.byref(config)

        def enqueue(stream, _owners=owners):
            config.stream = stream
            self("cuLaunchKernelEx", reference, function, pointers, None)

        return enqueue

    def clear(self, address, count, stream):
        self("cuMemsetD8Async", ctypes.c_uint64(address), ctypes.c_ubyte(0), ctypes.c_size_t(count),
             ctypes.c_void_p(stream))

    def tensor_map(self, spec, dtype, base, shape):
        """The 128 bytes of the tensor map of a row-major array."""
        bits, axes, strides = DTYPES[dtype][0], spec["axes"], row_major(shape)
        rank = len(axes)
        sizes = (ctypes.c_uint64 * 5)(*(shape[a] for a in axes))
        # The innermost stride is one element; along an extent of 1 the stride is never used, but must be legal.
        steps = (ctypes.c_uint64 * 5)(*(TENSOR_MAP_GRANULE if shape[a] == 1 else strides[a] * bits // 8
                                        for a in axes[1:]))
        box = (ctypes.c_uint32 * 5)(*spec["box"])
        element_strides = (ctypes.c_uint32 * 5)(*spec["element_strides"])
        owner, address = aligned(bytes(TENSOR_MAP_BYTES))
        swizzle = {0: 0, 32: 1, 64: 2, 128: 3}[spec["swizzle_bytes"]]
        promotion = {0: 0, 64: 1, 128: 2, 256: 3}[spec["l2_promotion_bytes"]]
        self("cuTensorMapEncodeTiled", ctypes.c_void_p(address), TENSOR_MAP_TYPES.get(dtype, 0), rank,
             ctypes.c_void_p(base), sizes, steps, box, element_strides, 0, swizzle, promotion, int(spec["nan_fill"]))
        return ctypes.string_at(address, TENSOR_MAP_BYTES)


class Operation:
    """An artifact bound to arrays. `allocate(bytes)` gives (owner, address) of device memory for what the launches keep
    between them. Raises PlanError where the arrays do not fit, DriverError where the driver refuses."""

    def __init__(self, driver, plan, arrays, scalars=None, allocate=None):
        self.driver, self.plan, self.allocate = driver, plan, allocate
        self.keep = [arrays]
        self.steps = []  # (memory to clear, call), in order
        self.modules = [driver.load(b) for b in plan.binaries]
        entries = [driver.entry(self.modules[launch["binary"]], launch) for launch in plan.launches]
        resident = [driver.resident_blocks(f, launch) for f, launch in zip(entries, plan.launches)]
        # An artifact calls its architecture sm_90a; programs call it sm_90.
        facts = {("arch",): plan.data["arch"].rstrip("af"), ("num_sms",): driver.multiprocessors,
                 ("resident_blocks",): min(resident)}
        self.env = plan.bind({name: tuple(t.shape) for name, t in arrays.items()}, scalars, facts)
        self.views = {name: self._view(plan.arrays[name], t) for name, t in arrays.items()}
        zeroed = []
        for spec in plan.data["temporaries"]:
            shape = [evaluate(e, self.env) for e in spec["extents"]]
            size = -(-math.prod(shape) * DTYPES[spec["dtype"]][0] // 8)
            self.views[spec["name"]] = (self._memory(size), shape, spec["dtype"])
            if spec["zeroed"]:
                zeroed.append((self.views[spec["name"]][0], size))
        for i, (function, launch, blocks) in enumerate(zip(entries, plan.launches, resident)):
            env = {**self.env, ("resident_blocks",): blocks}
            clear = zeroed if i == 0 else []
            params = [self._param(p, env, clear) for p in launch["params"]]
            grid = plan.grid(launch, env)
            if math.prod(grid):
                self.steps.append((clear, driver.prepare(function, grid, launch, params)))

    def enqueue(self, stream):
        for clear, call in self.steps:
            for address, size in clear:
                self.driver.clear(address, size, stream)
            call(stream)

    def _view(self, spec, tensor):
        if str(tensor.dtype) != f"torch.{DTYPES[spec['dtype']][1]}":
            raise PlanError(f"'{spec['name']}' is {tensor.dtype}, not {spec['dtype']}")
        if not tensor.is_contiguous():
            raise PlanError(f"'{spec['name']}' is not row-major")
        if tensor.data_ptr() % spec["align"]:
            raise PlanError(f"'{spec['name']}' is not aligned to {spec['align']} bytes")
        return tensor.data_ptr(), list(tensor.shape), spec["dtype"]

    def _memory(self, size):
        owner, address = self.allocate(max(size, 1))
        self.keep.append(owner)
        return address

    def _param(self, param, env, clear):
        kind, array = param["kind"], param["array"]
        if kind == "value":
            return encode_value(evaluate(param["value"], env), param["dtype"])
        if kind == "tensor_map":
            base, shape, dtype = self.views[param["map"]["array"]]
            return self.driver.tensor_map(param["map"], dtype, base, shape)
        if kind == "array" or (kind == "scratch" and array in self.views):
            address = self.views[array][0]
        elif kind in ("scratch", "counter", "print_buffer"):
            size = evaluate(param["value"], env) or (PRINT_BYTES if kind == "print_buffer" else 0)
            address = self._memory(size)
            if kind != "scratch":
                clear.append((address, size))
        else:
            raise PlanError(f"unknown kind of parameter '{kind}'")
        return address.to_bytes(8, "little")

