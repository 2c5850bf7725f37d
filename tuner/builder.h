#pragma once
// From configurations to machine code: where the tuner meets the compiler. An interface, so that tests can stand in for
// compilers that refuse, die or give wrong code.
#include "compiler/driver/driver.h"
#include "tuner/space.h"

namespace tilec::tuner {

/// A configuration checked for one problem, before any code is generated.
struct Prepared {
  std::shared_ptr<const driver::Source> source;
  std::shared_ptr<const sema::Program> program;
  std::string irHash;
};

class Builder {
public:
  virtual ~Builder() = default;
  virtual const sema::KernelInterface &interface() const = 0;
  /// The kernel's file as messages name it.
  virtual std::string file() const = 0;
  /// Checks and hashes. An empty problem leaves extents open. Not thread-safe. Error (Program): the first diagnostic.
  virtual Result<Prepared> prepare(const Configuration &configuration, const Values &problem, const Arch &arch) = 0;
  /// Generates code. Called by several threads at once. Errors: as driver::compileIsolated().
  virtual Result<Artifact> compile(const Prepared &prepared) = 0;
  /// Assembler in use, and version of the compiler with the hash of its code generator: parts of every key.
  virtual Result<std::string> assembler() const = 0;
  virtual std::string tool() const = 0;
};

/// The builder of a kernel's file. Error (Program) carries the rendered diagnostics as its detail.
Result<std::unique_ptr<Builder>> openBuilder(const std::string &file, std::string_view kernel,
                                             double compileTimeoutSeconds = 120);

} // namespace tilec::tuner
