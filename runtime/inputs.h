#pragma once
// Input data: a counter-based generator whose every element can be computed alone, and arrays from files.
//
// Element i of array number n under a seed depends on (seed, n, i) and nothing else: Philox4x32-10 (Salmon et al. 2011)
// with key = seed and counter = (i / 2, n) gives 128 bits, of which element i takes the half i % 2. Numbers are made
// from them with + − × ÷ and sqrt in f64 alone, without contraction, so the bits are the same on every machine, CPU or
// GPU.
#include "runtime/host_array.h"
#include <array>
#include <string>

namespace tilec::runtime {

enum class DistributionKind : uint8_t { Normal, Uniform, Arange, Constant, RandInt, File };

struct Distribution {
  DistributionKind kind = DistributionKind::Normal;
  /// Normal: mean, standard deviation. Uniform: [a, b). Arange: start, step. Constant: value in a.
  double a = 0, b = 1;
  /// The same where both are integers, exact in 64 bits; RandInt: [ia, ib).
  int64_t ia = 0, ib = 1;
  bool integral = false; ///< ia and ib hold
  std::string path;      ///< File
};

/// Parses `normal[:mean,std]`, `uniform[:lo,hi]`, `arange[:start,step]`, `zeros`, `ones`, `constant:v`,
/// `randint:lo,hi` (hi excluded) or a file's name that ends in `.npy`. Error (Usage): what is wrong, and the list.
Result<Distribution> parseDistribution(std::string_view text);
/// The text that reads back as the same distribution.
std::string toString(const Distribution &distribution);
/// What an array without a distribution gets: normal:0,1 for floats, small integers otherwise.
Distribution defaultDistribution(DType dtype);
/// Whether a distribution suits a dtype. Errors (Usage): normal or a fraction for integers, a constant that does not
/// fit.
Status checkDistribution(const Distribution &distribution, DType dtype);

/// The four words of Philox4x32-10.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);
/// The 64 random bits of an element, and those of elements 2·pair and 2·pair + 1 in one draw.
uint64_t randomBits(uint64_t seed, uint32_t array, uint64_t element);
std::array<uint64_t, 2> randomPair(uint64_t seed, uint32_t array, uint64_t pair);
/// Inverse of the normal distribution function for p in (0, 1), to 1e-15 relative (Wichura 1988, AS 241); bit-identical
/// everywhere.
double inverseNormal(double p);

/// Storage encoding of one element. The distribution is not File and suits the dtype.
uint64_t inputElement(const Distribution &distribution, DType dtype, uint64_t seed, uint32_t array, uint64_t element);
/// A whole array, in parallel; a File is loaded and its shape and dtype checked against the wanted ones. `label` names
/// the array in messages.
Result<HostArray> makeInput(const Distribution &distribution, DType dtype, std::vector<int64_t> extents, uint64_t seed,
                            uint32_t array, std::string_view label);

} // namespace tilec::runtime
