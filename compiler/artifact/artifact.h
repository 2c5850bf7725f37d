#pragma once
// What a compiled operation is, as plain versioned data. Launching, tuning and exporting read only this. It is written
// as JSON beside a .cubin. An operation is one or more launches in a fixed order with temporary arrays between them; a
// kernel alone is an operation of one launch.
#include "compiler/artifact/launch_expr.h"
#include <array>
#include <optional>

namespace tilec {

/// Raised when a field changes its meaning; a reader refuses a newer one and names both.
inline constexpr int artifactVersion = 1;

enum class ArrayMode : uint8_t { In, Out, InOut, Scratch };
std::string_view name(ArrayMode mode);

/// One array argument of the operation, or a temporary between its launches.
struct ArraySpec {
  std::string name;
  ArrayMode mode = ArrayMode::In;
  DType dtype = DType::f32;
  std::vector<LaunchExpr> extents;  ///< elements; a Symbol that stands alone binds it
  std::vector<LaunchExpr> strides;  ///< elements; empty: row-major and contiguous; a Symbol `_` is any stride
  int64_t align = 16;               ///< bytes the base is promised to be aligned to
  std::vector<std::string> aliases; ///< arrays that may be the very same buffer
  bool zeroed = false;              ///< Scratch: zero at the start of the launch
  std::string doc;
};

struct ScalarSpec {
  std::string name;
  DType dtype = DType::i32;
};

/// A launch condition with its text for messages.
struct Condition {
  LaunchExpr expr;
  std::string text; ///< as written in the program
};

/// How one tile of an array goes through a tensor map; used by the launcher to encode it.
struct TensorMapSpec {
  std::string array;
  std::vector<int> axes;    ///< array axes, innermost first
  std::vector<int64_t> box; ///< elements, innermost first
  std::vector<int64_t> elementStrides;
  int swizzleBytes = 0; ///< 0, 32, 64 or 128
  bool nanFill = false; ///< out-of-bounds elements read as NaN instead of 0
  int l2PromotionBytes = 0;
};

enum class ParamKind : uint8_t { ArrayBase, Value, TensorMap, Scratch, Counter, PrintBuffer };
std::string_view name(ParamKind kind);

/// One parameter of a launch, in the order of the entry point's parameters.
struct LaunchParam {
  ParamKind kind = ParamKind::ArrayBase;
  std::string array;                ///< ArrayBase, Scratch: the array whose base address is passed
  LaunchExpr value;                 ///< Value: extent, stride, scalar or an expression of them; Scratch, Counter: bytes
  DType dtype = DType::i32;         ///< Value: how it is passed
  std::optional<TensorMapSpec> map; ///< TensorMap
};

/// What the assembler reports of one entry point.
struct Resources {
  int registers = 0; ///< per thread
  int staticSharedBytes = 0;
  int spillStoreBytes = 0, spillLoadBytes = 0, stackBytes = 0;
  int barriers = 0;
  int codeBytes = 0;
  std::vector<std::string> warnings; ///< assembler lines that matter, such as C7512
};

/// One access site (root array, operation, place) and the hints that hold there.
struct SiteSpec {
  std::string name; ///< a.load, c.store, a.load#2
  std::string array;
  std::string place; ///< file:line:column
  std::map<std::string, int64_t> hints;
};

/// What a record of the print buffer stands for: a `print`, or an `assert` that fails.
struct MessageSpec {
  bool assertion = false;
  std::string place;                        ///< file:line:column
  std::vector<std::string> pieces;          ///< print: text around its values; assert: its text alone
  std::vector<DType> dtypes;                ///< of each value
  std::vector<std::vector<int64_t>> shapes; ///< of each value, or of the condition; empty: a scalar
};

struct LaunchSpec {
  std::string entry; ///< symbol in the cubin
  size_t binary = 0; ///< index into Artifact::binaries
  std::vector<LaunchParam> params;
  std::array<LaunchExpr, 3> grid{LaunchExpr::constant(int64_t(1)), LaunchExpr::constant(int64_t(1)),
                                 LaunchExpr::constant(int64_t(1))}; ///< blocks of the language's grid
  int threads = 128;                                                ///< threads of a block
  int64_t dynamicSharedBytes = 0;
  std::array<int, 3> cluster{1, 1, 1}; ///< CTAs that share one block of the grid: grid · cluster CTAs are launched
  bool persistent = false;             ///< the entry loops over the grid; launched with resident blocks
  bool dependentLaunch = false;        ///< programmatic dependent launch attribute
  bool index64 = false;                ///< extents may reach past 2^31
  Resources resources;
  std::vector<SiteSpec> sites;
  std::vector<MessageSpec> messages;    ///< by the number in a record
  std::map<std::string, int64_t> hints; ///< kernel hints in force
};

/// Where an artifact comes from; all parts of its key.
struct Provenance {
  std::string file, kernel;
  std::string sourceHash;                        ///< sha256 of the source text
  std::string irHash;                            ///< sha256 of the canonical tile IR
  std::string toolVersion;                       ///< tilec's version and the hash of its code generator
  std::string assembler;                         ///< name and version, such as "nvJitLink 13.0"
  std::map<std::string, LaunchValue> parameters; ///< compile-time parameters
};

struct Artifact {
  int version = artifactVersion;
  std::string name; ///< operation
  std::string arch; ///< full architecture of the binaries, such as sm_90a
  std::string doc;
  std::vector<ArraySpec> arrays;      ///< arguments, in source order
  std::vector<ArraySpec> temporaries; ///< between launches
  std::vector<ScalarSpec> scalars;
  std::vector<std::string> symbols;      ///< extent and stride symbols
  std::map<std::string, int64_t> folded; ///< symbols fixed while compiling (-D K=4096): checked at launch
  std::vector<std::pair<std::string, LaunchExpr>> lets; ///< clause `let`s in order
  std::vector<Condition> requirements;
  std::vector<LaunchSpec> launches;
  Provenance provenance;
  std::vector<std::string> binaries; ///< cubin bytes; kept out of the JSON, which holds their hashes
};

Json toJson(const Artifact &artifact);
/// Reads an artifact without its binaries. Errors (Usage): another version (both named), a missing or wrong field.
Result<Artifact> artifactFromJson(const Json &json);

/// Writes PATH (the cubin) and PATH.json; an artifact of several binaries gets PATH.1, …
Status writeArtifact(const Artifact &artifact, const std::string &path);
/// Reads both back and checks the hashes.
Result<Artifact> readArtifact(const std::string &path);

/// Binds symbols from extents and strides given by the caller and from known scalars; checks every extent and stride.
/// `extents` and `strides` may lack arrays whose extents follow from symbols already in `env`; an array without strides
/// given has those the artifact states. Errors: Program, naming the arrays and both values; Usage, for an unknown array
/// and for a symbol that nothing binds.
Status bindSymbols(const Artifact &artifact, const std::map<std::string, std::vector<int64_t>> &extents, LaunchEnv &env,
                   const std::map<std::string, std::vector<int64_t>> &strides = {});
/// Extents and strides (both in elements) of an array once its symbols are bound; `_` and an array without strides
/// count as contiguous.
Result<std::vector<int64_t>> arrayExtents(const ArraySpec &array, const LaunchEnv &env);
Result<std::vector<int64_t>> arrayStrides(const ArraySpec &array, const LaunchEnv &env);
/// Evaluates clause lets into `env`, checks `requires`, index range and grid limits; gives the grid of each launch. An
/// axis of 0 launches nothing and is no error. Errors (Program) give the condition with its values, or the axis.
Result<std::vector<std::array<int64_t, 3>>> planGrid(const Artifact &artifact, LaunchEnv &env);

} // namespace tilec
