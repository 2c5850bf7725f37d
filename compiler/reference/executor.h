#pragma once
// The reference executor: runs a kernel of tile IR on the CPU. What it computes is the meaning of the language, so it
// is written from semantics, simple before fast, and shares nothing with code generation.
//
// Every op works on whole tiles and rounds once per operation to the dtype of its result. Nothing is contracted.
// Transcendentals of f32 and narrower are computed in f64 and rounded once; those of f64 are the C library's. Sums
// accumulate in the element type of the reduction as a balanced tree over neighbours (x0+x1)+(x2+x3), axis by axis from
// the last, and so do reductions by a function; running sums go from element to element, scans by a function in rounds
// of doubled distance; matrix products of floats up to f32 sum exact products in f64, in the order of k, and round at
// the end. The same bits on every run, whatever the number of workers, but for floats that several blocks add to one
// element by atomics.
//
// Blocks run in threads, each started block to its end. A block may wait for any other: where blocks wait and none
// ends, more of them are started. What atomics of one array do to its elements happens under a lock of the array.
#include "compiler/base/dtype.h"
#include "compiler/base/result.h"
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
}

namespace tilec::reference {

/// Memory of one array argument.
struct BufferView {
  DType dtype = DType::f32;
  std::vector<int64_t> extents; ///< elements
  std::vector<int64_t> strides; ///< elements, may be zero or negative; empty: row-major and contiguous
  std::byte *data = nullptr;    ///< element (0, …); fp4 packs two elements in a byte, the even one low
  uint64_t elements = 0;        ///< elements that may be addressed from `data` on
  /// Where it is given, for an array that is only stored to: takes the offsets of elements that no block stores.
  std::vector<int64_t> *unwritten = nullptr;
};

/// One element of an array argument, by its offset in elements from the array's base.
struct Sample {
  std::string array;
  int64_t element = 0;
};

struct Launch {
  std::map<std::string, BufferView> buffers = {};
  std::map<std::string, uint64_t> scalars = {}; ///< storage encoding of the scalar's dtype
  std::map<std::string, int64_t> symbols = {};  ///< extent and stride symbols
  std::array<int64_t, 3> grid{1, 1, 1};         ///< blocks; an axis of 0 runs nothing
};

struct ExecOptions {
  unsigned jobs = 0; ///< workers; 0: one per processor
  /// Floats are f64 between load and store, so that a result can serve as the truth of an error bound. Conversions
  /// written in the program still round. A float buffer may then be f64 whatever dtype the kernel says.
  bool widen64 = false;
  /// Run only blocks that store one of these elements. Ignored when the places stored to depend on loaded values.
  std::vector<Sample> samples = {};
  /// Linear numbers of the blocks to run; empty: all, or those that `samples` asks for.
  std::vector<int64_t> blocks = {};
  /// Report different values stored to one element by two blocks, or by two lanes of one scatter. Takes 4 bytes an
  /// element, 12 where blocks release and acquire; order.h says which stores count as ordered.
  bool checkRaces = true;
  std::function<void(int64_t done, int64_t total)> progress = {}; ///< blocks; called from one worker at a time
  /// What blocks print, in the order of block numbers; called from one worker at a time.
  std::function<void(std::string_view text)> print = {};
};

/// What a run found wrong with a program that is legal to compile.
enum class FindingKind : uint8_t {
  Race,           ///< two blocks, or two lanes of one scatter, store different values to one element
  Uninitialised,  ///< a value without defined bits reaches a stored element, an index or a condition
  OutOfRange,     ///< check_bounds = false, but the tile crosses the array's edge; a part that a tile does not have
  DivisionByZero, ///< or MIN / -1; reported when the quotient reaches a stored element, an index or a condition
  Assertion,      ///< an assert is false; the launch ends
  NotDivisible,   ///< assume_divisible of a value that is not
};
/// race, uninitialised, out-of-bounds, division-by-zero, assertion or not-divisible.
std::string_view name(FindingKind kind);

struct Place {
  std::string file; ///< empty when unknown
  uint32_t line = 0, column = 0;
  bool operator==(const Place &) const = default;
};

struct Finding {
  FindingKind kind;
  Place place;                    ///< the store that races, the load or division the value comes from
  Place reached;                  ///< where the value had an effect
  std::string source;             ///< Uninitialised: array that was read
  std::string array;              ///< array stored to (OutOfRange: or loaded from); empty for a condition
  std::array<int64_t, 3> block{}; ///< first block, in the order of block numbers, that shows it
  int64_t otherBlock = -1;        ///< Race: linear number of the other block
  int64_t element = -1;           ///< offset in elements from the array's base; -1: none
  uint64_t count = 0;             ///< elements concerned, all blocks together (Assertion: of this block)
  std::string text = {};          ///< Assertion: what the program says; else what the kind leaves open
  std::vector<int64_t> lane = {}; ///< Assertion, NotDivisible: coordinates of the first element in its tile
};
/// One line for a message.
std::string toString(const Finding &finding);

struct ExecReport {
  std::vector<Finding> findings = {}; ///< one per kind and pair of places, in the order of the places in the program
  int64_t blocks = 0;                 ///< blocks that ran
};

/// Runs a kernel over its grid. Elements that no block stores keep what the buffers held. Errors: an argument that is
/// missing or of another dtype, an array that reaches past its buffer (Usage), an op without meaning here (Internal).
Result<ExecReport> execute(mlir::ModuleOp module, std::string_view kernel, const Launch &launch,
                           const ExecOptions &options = {});

} // namespace tilec::reference
