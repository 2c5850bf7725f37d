#include "tuner/session.h"
#include "compiler/base/hash.h"
#include "compiler/base/text.h"
#include "compiler/target/target.h"
#include "tuner/compile_pool.h"
#include "tuner/identity.h"
#include <algorithm>
#include <chrono>
#include <set>

namespace tilec::tuner {
namespace {

/// One configuration on its way.
struct Item {
  Configuration configuration;
  Prepared prepared;
  TrialKey key;
  std::optional<TrialRecord> known; ///< from the cache, or made while preparing
  bool reused = false;              ///< from the cache
};

class ProblemSession {
public:
  ProblemSession(const Recipe &recipe, Builder &builder, Evaluator &evaluator, Cache &cache, const Arch &arch,
                 const Machine &machine, const SessionOptions &options)
      : recipe(recipe), builder(builder), evaluator(evaluator), cache(cache), arch(arch), machine(machine),
        options(options) {}

  Result<ProblemResult> run(const Values &given, const std::vector<Override> &overrides) {
    auto begin = std::chrono::steady_clock::now();
    result.problem = completeProblem(builder.interface(), given);
    result.kernel = builder.interface().name;
    result.environment = evaluator.environment();
    result.policy = evaluator.policy();
    result.predicted = !evaluator.measures();
    TILEC_TRY(enumerate(overrides));
    TILEC_TRY(prepareItems());
    lookUp();
    size_t known = size_t(std::ranges::count_if(items, [](const Item &i) { return i.known.has_value(); }));
    if (options.progress)
      options.progress->begin(result.problem, result.space, items.size(), known);
    for (const Item &item : items)
      if (item.known)
        finish(item, *item.known, item.reused);
    if (known < items.size())
      TILEC_TRY(evaluateRest());
    conclude();
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (options.progress)
      options.progress->end(result);
    return std::move(result);
  }

private:
  bool stopped() const { return options.stop && options.stop->load(); }

  Status enumerate(const std::vector<Override> &overrides) {
    SpaceRequest request{&builder.interface(), &arch, result.problem, recipe.space, {}, options.limit};
    request.overrides.insert(request.overrides.end(), overrides.begin(), overrides.end());
    // The kernel under its own defaults: it shows the access sites, and that there is something to tune at all. A
    // kernel whose defaults are not eligible for this problem may have other configurations that are.
    auto own = builder.prepare({}, result.problem, arch);
    if (own && own->program)
      request.sites = own->program->sites;
    TILEC_ASSIGN(result.space, enumerateSpace(request));
    TILEC_ASSIGN(KernelId kernel, kernelId(builder, arch, result.problem));
    id = problemId(std::move(kernel), result.problem);
    return {};
  }

  Status prepareItems() {
    for (const Configuration &c : result.space.configurations) {
      Item item{c, {}, {}, std::nullopt};
      auto prepared = builder.prepare(c, result.problem, arch);
      if (prepared)
        item.prepared = std::move(*prepared);
      else if (prepared.error().kind == ErrorKind::Internal)
        return std::unexpected(prepared.error());
      item.key = keyOf(item);
      if (!prepared) {
        item.known = blank(item);
        item.known->measurement = Measurement::failed(TrialStatus::CompileFailed, prepared.error().message);
      }
      items.push_back(std::move(item));
    }
    return {};
  }

  TrialKey keyOf(const Item &item) const {
    return trialKey(
        {item.prepared.irHash, id, result.environment, item.configuration, result.policy, evaluator.verification()});
  }

  TrialRecord blank(const Item &item) const {
    TrialRecord r;
    r.key = item.key;
    r.problem = id;
    r.environment = result.environment;
    r.configuration = item.configuration;
    r.policy = result.policy;
    r.verification = evaluator.verification();
    r.artifactKey = artifactKey(item.prepared.irHash, result.environment, item.configuration);
    return r;
  }

  void lookUp() {
    std::set<std::string> otherDrivers;
    for (Item &item : items) {
      if (item.known || options.fresh)
        continue;
      item.known = cache.find(item.key, false);
      if (!item.known)
        continue;
      if (item.known->environment.driver != result.environment.driver)
        otherDrivers.insert(item.known->environment.driver);
      item.reused = true;
    }
    for (const std::string &driver : otherDrivers)
      note(fmt::format("some results were measured with driver {}, this is {}; --fresh measures again", driver,
                       result.environment.driver));
  }

  Status evaluateRest() {
    std::vector<Item *> rest;
    for (Item &item : items)
      if (!item.known)
        rest.push_back(&item);
    std::vector<Pending> pending;
    for (const Item *item : rest)
      pending.push_back({item->configuration, item->prepared});
    TILEC_TRY(evaluator.begin(result.problem, items.front().configuration, pending));
    // An evaluator that measures works in another process while compiles go on. The executor works in this one, where
    // its locks must not be held when a compile forks, so it takes turns with them.
    unsigned jobs = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
    size_t batch = evaluator.measures() ? rest.size() : std::max<size_t>(16, jobs * 4);
    for (size_t first = 0; first < rest.size() && !stopped(); first += batch)
      TILEC_TRY(evaluateBatch(std::span(rest).subspan(first, std::min(batch, rest.size() - first)), jobs));
    result.interrupted = stopped();
    evaluator.end();
    return {};
  }

  Status evaluateBatch(std::span<Item *> batch, unsigned jobs) {
    std::vector<const Prepared *> work;
    for (Item *item : batch)
      work.push_back(&item->prepared);
    CompilePool pool(builder, work, jobs);
    if (!evaluator.measures())
      pool.wait();
    for (size_t i = 0; i < batch.size() && !stopped(); ++i) {
      Item &item = *batch[i];
      CompilePool::Built built = pool.take(i);
      if (stopped())
        break;
      TrialRecord record = blank(item);
      record.compileSeconds = built.seconds;
      ++result.compiled;
      if (!built.artifact)
        record.measurement = Measurement::failed(TrialStatus::CompileFailed, built.artifact.error().message);
      else {
        record.artifact = std::move(*built.artifact);
        record.measurement = judge(item, *record.artifact);
        record.footprint = footprint(*record.artifact);
      }
      // A trial that was broken off by Ctrl-C says nothing of its configuration.
      if (stopped() && isFailure(record.measurement.status))
        break;
      TILEC_TRY(cache.insert(record, options.fresh));
      finish(item, record, false);
    }
    return {};
  }

  /// Prunes by facts, shares the result of equal code, else verifies and times.
  Measurement judge(const Item &item, const Artifact &artifact) {
    if (std::string why = excess(artifact); !why.empty())
      return Measurement::failed(TrialStatus::NoResources, std::move(why));
    std::string code = codeIdentity(artifact);
    if (auto same = measured.find(code); same != measured.end()) {
      Measurement m = same->second.second;
      m.reason = fmt::format("same code as configuration {}", same->second.first);
      return m;
    }
    Measurement m = evaluator.evaluate({item.configuration, item.prepared, artifact});
    ++result.evaluated;
    // Only what the code itself decided is shared: a worker may die of something else.
    if (!isFailure(m.status))
      measured.emplace(code, std::pair(item.configuration.id, m));
    return m;
  }

  /// What a block asks for beyond the architecture's limits.
  std::string excess(const Artifact &artifact) const {
    for (const LaunchSpec &l : artifact.launches) {
      int64_t shared = l.dynamicSharedBytes + l.resources.staticSharedBytes;
      if (shared > arch.sharedPerBlock)
        return fmt::format("needs {} bytes of shared memory, {} has {}", shared, arch.name, arch.sharedPerBlock);
      if (l.threads > Arch::threadsPerBlock)
        return fmt::format("needs {} threads, a block has at most {}", l.threads, Arch::threadsPerBlock);
      if (l.resources.registers * l.threads > Arch::registersPerSm)
        return fmt::format("needs {} registers in {} threads, an SM has {}", l.resources.registers, l.threads,
                           Arch::registersPerSm);
    }
    return "";
  }

  /// Equal for artifacts that run alike: machine code and everything the launcher reads, without names of hints.
  static std::string codeIdentity(const Artifact &artifact) {
    std::string text;
    for (const std::string &bytes : artifact.binaries)
      text += sha256(bytes);
    Json json = tilec::toJson(artifact);
    for (Json &launch : json["launches"]) {
      launch.erase("sites");
      launch.erase("hints");
    }
    return sha256(text + json["launches"].dump() + json["requirements"].dump() + json["lets"].dump());
  }

  void finish(const Item &item, const TrialRecord &record, bool reused) {
    TrialRow row;
    row.configuration = item.configuration;
    row.status = record.measurement.status;
    row.reason = record.measurement.reason;
    row.median = record.measurement.median;
    row.low = record.measurement.low;
    row.high = record.measurement.high;
    row.samples = int(record.measurement.samples.size());
    row.footprint = record.footprint;
    row.reused = reused;
    addFigures(item, row);
    result.reused += reused;
    result.failed += isFailure(row.status);
    result.rows.push_back(std::move(row));
    const TrialRow &added = result.rows.back();
    if (!isFailure(added.status) && (!best || added.median < result.rows[*best].median))
      best = result.rows.size() - 1;
    if (options.progress && !reused)
      options.progress->trial(added, result.rows.size(), items.size(), best ? &result.rows[*best] : nullptr);
  }

  void addFigures(const Item &item, TrialRow &row) {
    if (row.median <= 0)
      return;
    if (!work && item.prepared.program)
      if (auto w = workOf(recipe, driver::plan(*item.prepared.source, *item.prepared.program), result.problem))
        work = *w;
    if (!work)
      return;
    row.bytesPerSecond = work->bytes / row.median;
    row.flopsPerSecond = work->flops / row.median;
    row.roofline = work->floor(machine) / row.median;
    if (row.roofline > 1.1 && !result.predicted && work->bytes > double(machine.l2Bytes) && row.reason.empty())
      row.reason = "faster than the memory allows: do the inputs leave work to do?";
  }

  void conclude() {
    std::vector<Ranked> ranked;
    for (const TrialRow &row : result.rows)
      ranked.push_back({row.configuration.id, row.status, row.median, row.footprint});
    std::optional<size_t> chosen = chooseWinner(ranked);
    std::optional<int> winnerId = chosen ? std::optional(result.rows[*chosen].configuration.id) : std::nullopt;
    std::ranges::sort(result.rows, [](const TrialRow &a, const TrialRow &b) {
      auto order = [](const TrialRow &r) {
        return std::tuple(isFailure(r.status), isFailure(r.status) ? 0.0 : r.median, r.configuration.id);
      };
      return order(a) < order(b);
    });
    for (size_t i = 0; i < result.rows.size(); ++i)
      if (winnerId == result.rows[i].configuration.id)
        result.winner = i;
    for (const std::string &n : result.space.notes)
      note(n);
    if (result.winner)
      result.command =
          fmt::format("tilec build {}{} --tuned --problem {} --arch {} -o {}.cubin", shellQuote(recipe.path),
                      recipe.kernel.empty() || recipe.path.ends_with(".yaml") ? ""
                      : recipe.path.ends_with(".tile")                        ? " --kernel " + recipe.kernel
                                                                              : "",
                      shellQuote(toString(result.problem)), arch.name, result.kernel);
  }

  void note(std::string text) { result.notes.push_back(std::move(text)); }

  const Recipe &recipe;
  Builder &builder;
  Evaluator &evaluator;
  Cache &cache;
  const Arch &arch;
  const Machine &machine;
  const SessionOptions &options;
  ProblemResult result;
  ProblemId id;
  std::vector<Item> items;
  std::map<std::string, std::pair<int, Measurement>> measured; ///< by code: configuration that was measured
  std::optional<Work> work;
  std::optional<size_t> best;
};

} // namespace

Result<ProblemResult> tuneProblem(const Recipe &recipe, Builder &builder, Evaluator &evaluator, Cache &cache,
                                  const Arch &arch, const Machine &machine, const Values &problem,
                                  const std::vector<Override> &overrides, const SessionOptions &options) {
  return ProblemSession(recipe, builder, evaluator, cache, arch, machine, options).run(problem, overrides);
}

} // namespace tilec::tuner
