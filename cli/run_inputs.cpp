#include "cli/run_inputs.h"
#include "compiler/base/text.h"
#include "runtime/inputs.h"
#include "runtime/npy.h"
#include <algorithm>
#include <charconv>

namespace tilec::cli {

static bool isInput(ArrayMode mode) { return mode == ArrayMode::In || mode == ArrayMode::InOut; }

/// Splits `array=rest` and finds the array.
static Result<std::pair<const ArraySpec *, std::string>> named(const sema::KernelInterface &interface,
                                                               const std::string &text, std::string_view example) {
  size_t eq = text.find('=');
  if (eq == std::string::npos || eq == 0 || eq + 1 == text.size())
    return withHelp(usageError("'{}' names no array", text), fmt::format("write ARRAY=…, such as {}", example));
  std::string name = text.substr(0, eq);
  std::vector<std::string> known;
  for (const ArraySpec &a : interface.arrays) {
    if (a.name == name)
      return std::pair{&a, text.substr(eq + 1)};
    known.push_back(a.name);
  }
  return withHelp(usageError("kernel '{}' has no array '{}'", interface.name, name), suggest(name, known));
}

Result<std::vector<InputSpec>> parseInputs(const sema::KernelInterface &interface,
                                           const std::vector<std::string> &texts) {
  std::vector<InputSpec> inputs;
  for (const std::string &text : texts) {
    TILEC_ASSIGN(auto found, named(interface, text, "a=normal:0,1"));
    const auto &[array, rest] = found;
    if (array->mode == ArrayMode::Scratch)
      return usageError("'{}' is scratch memory of the launch and takes no input", array->name);
    if (!isInput(array->mode))
      return withHelp(usageError("'{}' is an output and takes no input", array->name),
                      fmt::format("--out {}=file.npy writes it", array->name));
    if (std::ranges::find(inputs, array->name, &InputSpec::array) != inputs.end())
      return usageError("input '{}' is given twice", array->name);
    InputSpec spec{array->name, rest, 0};
    if (size_t at = rest.rfind(".npy@"); at != std::string::npos) {
      std::string_view digits = std::string_view(rest).substr(at + 5);
      auto r = std::from_chars(digits.data(), digits.data() + digits.size(), spec.offset);
      if (r.ec != std::errc() || r.ptr != digits.data() + digits.size() || spec.offset < 0)
        return withHelp(usageError("'{}' of '{}' is no offset", digits, array->name),
                        "write FILE.npy@ELEMENTS with a number of elements");
      spec.distribution = rest.substr(0, at + 4);
    }
    TILEC_TRY(runtime::parseDistribution(spec.distribution));
    inputs.push_back(std::move(spec));
  }
  return inputs;
}

Result<std::map<std::string, std::string>> parseOutputs(const sema::KernelInterface &interface,
                                                        const std::vector<std::string> &texts) {
  std::map<std::string, std::string> outputs;
  for (const std::string &text : texts) {
    TILEC_ASSIGN(auto found, named(interface, text, "--out c=c.npy"));
    if (found.first->mode == ArrayMode::Scratch)
      return usageError("'{}' is scratch memory of the launch, not an output", found.first->name);
    if (found.first->mode == ArrayMode::In)
      return withHelp(usageError("'{}' is an input, not an output", found.first->name),
                      "an array that is `out` or `inout` can be written to a file");
    for (const auto &[array, file] : outputs)
      if (file == found.second)
        return usageError("outputs '{}' and '{}' both go to {}", array, found.first->name, file);
    if (!outputs.emplace(found.first->name, found.second).second)
      return usageError("output '{}' is given twice", found.first->name);
  }
  return outputs;
}

Status parseTolerances(const sema::KernelInterface &interface, const std::vector<std::string> &texts,
                       std::map<std::string, tuner::Tolerance> &tolerances) {
  for (const std::string &text : texts) {
    TILEC_ASSIGN(auto found, named(interface, text, "--tolerance y=ulp:2"));
    tuner::Tolerance tolerance;
    for (const std::string &part : split(found.second, ',')) {
      if (part == "exact")
        continue;
      size_t colon = part.find(':');
      auto value = tuner::parseExpression(colon == std::string::npos ? "" : part.substr(colon + 1));
      std::string kind = part.substr(0, colon);
      if (!value || (kind != "ulp" && kind != "rel" && kind != "abs"))
        return withHelp(usageError("'{}' is no tolerance", part), "tolerances are exact, ulp:N, rel:X and abs:X");
      std::vector<std::string> known = tuner::problemNames(interface);
      for (const std::string &symbol : symbols(*value))
        if (std::ranges::find(known, symbol) == known.end())
          return withHelp(usageError("'{}' in tolerance '{}' is no extent, scalar or parameter of kernel '{}'", symbol,
                                     part, interface.name),
                          suggest(symbol, known));
      tuner::Tolerance alone;
      alone.abs = *value;
      if (symbols(*value).empty())
        TILEC_TRY(tuner::evaluate(alone, {}));
      (kind == "ulp" ? tolerance.ulp : kind == "rel" ? tolerance.rel : tolerance.abs) = std::move(*value);
    }
    tolerances[found.first->name] = tolerance;
  }
  return {};
}

Status bindFromFiles(const sema::KernelInterface &interface, const std::vector<InputSpec> &inputs,
                     const tuner::Values &parameters, tuner::Values &problem) {
  for (const InputSpec &input : inputs) {
    if (!input.distribution.ends_with(".npy") || input.offset != 0)
      continue;
    size_t index =
        size_t(std::ranges::find(interface.arrays, input.array, &ArraySpec::name) - interface.arrays.begin());
    const ArraySpec &array = interface.arrays[index];
    TILEC_ASSIGN(runtime::NpyFile file, runtime::readNpy(input.distribution));
    auto dtype = tuner::dtypeUnder(interface.arrayDTypes[index], parameters, interface);
    if (!dtype)
      return withHelp(usageError("the dtype of array '{}' is not known", array.name),
                      fmt::format("give it with -D {}=…", toString(interface.arrayDTypes[index])));
    TILEC_ASSIGN(std::vector<int64_t> extents, runtime::npyExtents(file, *dtype));
    if (extents.size() != array.extents.size())
      return usageError("{} has {} axes, but array '{}' has {}", input.distribution, extents.size(), array.name,
                        array.extents.size());
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      const LaunchExpr &e = array.extents[axis];
      if (e.op == LaunchOp::Symbol && std::ranges::find(interface.symbols, e.symbol) != interface.symbols.end())
        problem.emplace(e.symbol, extents[axis]);
    }
  }
  return {};
}

Status loadOffsets(const std::vector<InputSpec> &inputs, tuner::HostProblem &problem) {
  for (const InputSpec &input : inputs) {
    if (input.offset == 0)
      continue;
    for (size_t i = 0; i < problem.plan.arrays.size(); ++i) {
      const ArraySpec &spec = problem.plan.arrays[i];
      if (spec.name != input.array)
        continue;
      runtime::HostArray &array = problem.arrays[i];
      uint64_t offset = byteSize(spec.dtype, uint64_t(input.offset));
      // The start of a file's elements counts as aligned; a place inside it is aligned as its distance says.
      if (uint64_t found = offset & (~offset + 1); found < uint64_t(spec.align))
        return withHelp(
            programError("argument '{}' starts {} bytes into {} and is aligned to {} bytes, but kernel '{}' "
                         "needs {}",
                         spec.name, offset, input.distribution, found, problem.plan.name, spec.align),
            fmt::format("start at a multiple of {} bytes, or declare `{}: … align ({})`", spec.align, spec.name,
                        found));
      TILEC_ASSIGN(runtime::NpyFile file, runtime::readNpy(input.distribution));
      int64_t available = int64_t(file.bytes.size() * 8 / uint64_t(info(spec.dtype).bits)) - input.offset;
      if (available < array.count())
        return usageError("{} has {} elements from element {} on, but array '{}' needs {}", input.distribution,
                          std::max<int64_t>(available, 0), input.offset, spec.name, array.count());
      file.shape = {int64_t(file.bytes.size() * 8 / uint64_t(info(spec.dtype).bits))};
      TILEC_ASSIGN(runtime::HostArray whole,
                   runtime::fromNpy(std::move(file), input.distribution, spec.dtype, spec.name));
      std::copy_n(whole.bytes.begin() + int64_t(offset), array.bytes.size(), array.bytes.begin());
    }
  }
  return {};
}

} // namespace tilec::cli
