#include "runtime/cuda.h"
#include "compiler/base/env.h"
#include <algorithm>
#include <array>
#include <dlfcn.h>

namespace tilec::runtime {
namespace {

/// One row of cuda_api.def with the place of its pointer.
struct Entry {
  const char *symbol;
  bool required;
  void *slot;
};

Error missing(std::string message, std::string help) {
  return {ErrorKind::NoDevice, std::move(message), std::move(help), ""};
}

/// Codes after which every further call in the process fails.
constexpr std::array stickyCodes = {cu::illegalAddress,      cu::launchTimeout,      cu::assertFailed,
                                    cu::hardwareStackError,  cu::illegalInstruction, cu::misalignedAddress,
                                    cu::invalidAddressSpace, cu::invalidPc,          cu::launchFailed};

constexpr std::string_view stickyMark = "sticky ";

} // namespace

Result<Driver> openDriver(const std::string &path) {
  // The library stays open for the life of the process: the driver does not support being unloaded.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return std::unexpected(missing(fmt::format("no CUDA driver: {}", why ? why : path),
                                   "install the NVIDIA driver, or name its library in TILEC_CUDA_DRIVER; checking, "
                                   "building and running on the CPU need none"));
  }
  Driver d;
  d.path = path;
  enum { Optional, Required };
  const Entry table[] = {
#define CUDA_API(member, symbol, need, parameters) {symbol, need == Required, &d.member},
#include "runtime/cuda_api.def"
  };
  for (const Entry &entry : table) {
    void *address = dlsym(library, entry.symbol);
    if (!address && entry.required)
      return std::unexpected(missing(fmt::format("the CUDA driver {} has no {}", path, entry.symbol),
                                     "install a driver for CUDA 11.8 or newer"));
    std::copy_n(reinterpret_cast<char *>(&address), sizeof(address), static_cast<char *>(entry.slot));
  }
  if (cu::Code code = d.init(0))
    if (auto status = check(d, code, "start the CUDA driver"); !status) {
      Error error = std::move(status).error();
      error.kind = ErrorKind::NoDevice;
      error.help = "`nvidia-smi` tells whether the machine sees a GPU";
      return std::unexpected(std::move(error));
    }
  TILEC_TRY(check(d, d.driverGetVersion(&d.version), "ask for the driver's version"));
  return d;
}

Result<const Driver *> driver() {
  static const Result<Driver> opened = [] {
    auto path = envPath(Env::TILEC_CUDA_DRIVER);
    return openDriver(path ? path->string() : "libcuda.so.1");
  }();
  if (!opened)
    return std::unexpected(opened.error());
  return &*opened;
}

Status check(const Driver &driver, cu::Code code, std::string_view what) {
  if (code == 0)
    return {};
  const char *name = nullptr, *text = nullptr;
  // Both leave null for a code they do not know.
  driver.getErrorName(code, &name);
  driver.getErrorString(code, &text);
  Error error;
  bool sticky = std::ranges::find(stickyCodes, code) != stickyCodes.end();
  error.kind = sticky                                                        ? ErrorKind::Program
               : code == cu::noDevice || code == cu::invalidDevice           ? ErrorKind::NoDevice
               : code == cu::outOfMemory || code == cu::launchOutOfResources ? ErrorKind::Usage
                                                                             : ErrorKind::Internal;
  error.detail = fmt::format("{}{}", sticky ? stickyMark : "", name ? name : fmt::format("CUDA error {}", code));
  error.message = fmt::format("cannot {}: {} ({})", what, name ? name : fmt::format("CUDA error {}", code),
                              text ? text : "unknown to the driver");
  return std::unexpected(std::move(error));
}

bool isSticky(const Error &error) { return error.detail.starts_with(stickyMark); }

} // namespace tilec::runtime
