#pragma once
// The checker. A kernel is described without values (KernelInterface: what tuning and launching need to know of it) and
// instantiated with values into a Program.
#include "compiler/base/diag.h"
#include "compiler/sema/program.h"
#include "compiler/syntax/ast.h"

namespace tilec::sema {

enum class ParamKind : uint8_t { Int, Bool, Float, DType };

/// Values a parameter or hint may take while tuning; expressions of earlier parameters, extents and scalars.
struct Domain {
  std::vector<LaunchExpr> values; ///< `{…}` and pow2(lo, hi) and ranges, unless an end depends on a name
  std::optional<std::pair<LaunchExpr, LaunchExpr>> range; ///< lo..=hi
  std::optional<std::pair<LaunchExpr, LaunchExpr>> pow2;  ///< pow2(lo, hi)
};
/// The values of a domain under an environment. Errors (Program) as evaluate().
Result<std::vector<LaunchValue>> enumerate(const Domain &domain, const LaunchEnv &env);

struct ParamDecl {
  std::string name, doc;
  ParamKind kind = ParamKind::Int;
  std::optional<LaunchExpr> otherwise; ///< the default
  std::optional<Domain> domain;        ///< axis of tuning (a dtype's: the permitted set)
  bool boundByLaunch = false;          ///< a dtype parameter some array uses
  Span span;
};

struct HintDecl {
  std::string name;
  std::string arch; ///< empty: every architecture
  LaunchExpr value;
  std::optional<Domain> domain;
  Span span;
};

/// `tune [ARCH] (…)`: replaced axes and added configurations.
struct TuneDecl {
  std::string arch;
  std::map<std::string, Domain> axes;
  std::map<std::string, LaunchExpr> configuration;
};

struct KernelInterface {
  std::string name, doc;
  std::vector<ParamDecl> params;
  std::vector<ArraySpec> arrays;           ///< dtype of an array of parametric dtype: see arrayDTypes
  std::vector<LaunchExpr> arrayDTypes;     ///< literal dtype or a parameter's name, one per array
  std::vector<LaunchExpr> arrayConditions; ///< under which it exists: true, or parameters decide; one per array
  std::vector<ScalarSpec> scalars;
  std::vector<LaunchExpr> scalarDTypes;
  std::vector<std::string> symbols; ///< extent and stride symbols in order of binding
  std::vector<std::pair<std::string, LaunchExpr>> lets;
  std::map<std::string, ParamKind> letKinds; ///< where no dtype parameter decides
  std::vector<Condition> requirements;
  std::array<LaunchExpr, 3> grid;
  int gridRank = 1;
  bool contract = false, index64 = false; ///< options
  std::vector<HintDecl> hints;
  std::vector<TuneDecl> tunes;
  Span span;
};

/// What is given from outside while instantiating.
struct Bindings {
  std::map<std::string, LaunchValue, std::less<>> defines; ///< -D: parameters, extents (folded), scalars do not fold
  /// Extents and scalars of one problem, known but not folded: parameter defaults and domains may depend on them.
  std::map<std::string, LaunchValue, std::less<>> problem;
  std::map<std::string, int64_t> hints; ///< "occupancy" or "a.load.latency"
  const Arch *arch = nullptr;
  /// For launches whose extents divide as those of `problem` do, where rows depend on them (Program::multiples).
  bool specialize = false;
};

/// Names of the kernels of a file, in source order.
std::vector<std::string> kernelNames(const syntax::File &file);

/// Describes one kernel (by name; the only one when empty). Empty result: errors were reported.
std::optional<KernelInterface> describe(const syntax::File &file, std::string_view kernel, const SourceManager &sources,
                                        Diagnostics &diags);

/// The symbols that arrays and strides of a launch bind under some parameters, the others by their defaults: those of
/// arrays that do not exist are left out.
std::vector<std::string> boundSymbols(const KernelInterface &interface,
                                      const std::map<std::string, LaunchValue, std::less<>> &parameters);

/// Checks one kernel with values and builds its program. A parameter whose default needs an extent that is not known
/// takes the first value of its domain, else the value for extents of 1024: checking needs no problem.
std::optional<Program> instantiate(const syntax::File &file, const KernelInterface &interface, const Bindings &bindings,
                                   const SourceManager &sources, Diagnostics &diags);

/// Checks a whole file: every kernel with its defaults, every `fn` that no kernel calls for what can be said without
/// arguments.
void checkFile(const syntax::File &file, const SourceManager &sources, const Arch *arch, Diagnostics &diags);

} // namespace tilec::sema
