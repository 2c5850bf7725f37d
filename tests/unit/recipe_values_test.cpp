// LINK: tuner
// Every recipe's `check` problems on the reference executor against loops that say what the kernel computes. The loops
// know nothing of tiles; a recipe without one fails.
#include "compiler/target/target.h"
#include "recipe_loops.h"
#include "tuner/reference.h"
#include <gtest/gtest.h>

using namespace tilec;
using namespace tilec::tuner;

namespace {

double number(const LaunchValue &value) {
  if (auto *real = std::get_if<double>(&value))
    return *real;
  if (auto *flag = std::get_if<bool>(&value))
    return *flag;
  auto *integer = std::get_if<int64_t>(&value);
  return integer ? double(*integer) : 0;
}

/// Inputs as numbers, before the kernel runs.
Case caseOf(const HostProblem &host, const Values &problem) {
  Case c;
  for (const auto &[name, value] : host.env.values)
    c.numbers[name] = number(value);
  for (const auto &[name, value] : problem)
    if (auto *dtype = std::get_if<DType>(&value))
      c.dtypes[name] = *dtype;
    else
      c.numbers[name] = number(value);
  for (size_t i = 0; i < host.arrays.size(); ++i) {
    const runtime::HostArray &array = host.arrays[i];
    std::vector<double> &values = c.arrays[host.plan.arrays[i].name];
    values.resize(size_t(array.count()));
    if (host.plan.arrays[i].mode != ArrayMode::Out)
      for (size_t k = 0; k < values.size(); ++k)
        values[k] = array.value(int64_t(k));
  }
  return c;
}

void checkProblem(const Recipe &recipe, const Prepared &prepared, const Values &problem, const Loop &loop) {
  SCOPED_TRACE(recipe.name + " " + toString(problem));
  auto host = makeProblem(recipe, prepared, problem, 0);
  ASSERT_TRUE(host) << host.error().message;
  Case truth = caseOf(*host, problem);
  loop(truth);
  auto findings = executeProblem(prepared, *host, {});
  ASSERT_TRUE(findings) << findings.error().message;
  for (const driver::ReferenceFinding &finding : *findings)
    ADD_FAILURE() << finding.message;
  for (size_t i = 0; i < host->arrays.size(); ++i) {
    const ArraySpec &spec = host->plan.arrays[i];
    if (spec.mode != ArrayMode::Out && spec.mode != ArrayMode::InOut)
      continue;
    Bound bound;
    if (auto given = recipe.tolerance.find(spec.name); given != recipe.tolerance.end()) {
      auto evaluated = evaluate(given->second, problem);
      ASSERT_TRUE(evaluated) << evaluated.error().message;
      bound = *evaluated;
    }
    // Integers, and floats that must be exact, are compared as their own dtype holds the number.
    DType dtype = bound.exact() || !isFloat(spec.dtype) ? spec.dtype : DType::f64;
    auto expected = runtime::HostArray::zeros(dtype, host->arrays[i].extents);
    for (int64_t k = 0; k < expected.count(); ++k) {
      double value = truth.arrays.at(spec.name)[size_t(k)];
      expected.set(k, isFloat(dtype) ? encodeFloat(dtype, value) : uint64_t(int64_t(value)));
    }
    auto result = runtime::compare(host->arrays[i], expected, {.ulps = bound.ulp, .abs = bound.abs, .rel = bound.rel});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->equal()) << spec.name << ": " << runtime::toString(*result);
  }
}

class Recipes : public testing::TestWithParam<std::string> {};

TEST_P(Recipes, CheckProblemsMeanWhatTheLoopsSay) {
  const Loop *loop = findLoop(GetParam());
  ASSERT_NE(loop, nullptr) << "recipes/" << GetParam() << " has no loop in recipe_loops.h";
  SourceManager sources;
  Diagnostics diags;
  auto recipe = loadRecipe(std::string(TILEC_SOURCE_DIR "/recipes/") + GetParam(), sources, diags);
  ASSERT_TRUE(recipe) << recipe.error().message;
  ASSERT_FALSE(recipe->check.empty());
  auto builder = openBuilder(recipe->kernelFile, recipe->kernel);
  ASSERT_TRUE(builder) << builder.error().message << builder.error().detail;
  const Arch *arch = findArch("sm_90");
  for (const Values &problem : recipe->check) {
    auto prepared = (*builder)->prepare({}, problem, *arch);
    ASSERT_TRUE(prepared) << toString(problem) << ": " << prepared.error().message;
    checkProblem(*recipe, *prepared, problem, *loop);
  }
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const std::string &path : findRecipes(TILEC_SOURCE_DIR "/recipes"))
    result.push_back(std::filesystem::path(path).filename().string());
  return result;
}
INSTANTIATE_TEST_SUITE_P(All, Recipes, testing::ValuesIn(names()), [](const auto &info) { return info.param; });

} // namespace
