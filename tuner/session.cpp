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

/// A trial that is not in the cache yet.
struct Trial {
  const Item *item = nullptr;
  TrialRecord record;
  std::string code; ///< identity of its machine code
};
/// Configurations of one code that may win: the first was measured, the others share its time.
using Finalist = std::vector<Trial>;

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
    if (!stopped())
      TILEC_TRY(runFinals());
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
    std::vector<Trial> group;
    std::vector<Trial> twins; ///< of codes that are in the group
    for (size_t i = 0; i < batch.size() && !stopped(); ++i) {
      Item &item = *batch[i];
      CompilePool::Built built = pool.take(i);
      if (stopped())
        break;
      Trial trial{&item, blank(item), ""};
      trial.record.compileSeconds = built.seconds;
      ++result.compiled;
      if (!built.artifact) {
        trial.record.measurement = Measurement::failed(TrialStatus::CompileFailed, built.artifact.error().message);
        TILEC_TRY(keep(std::move(trial)));
        continue;
      }
      trial.record.artifact = std::move(*built.artifact);
      trial.record.footprint = footprint(*trial.record.artifact);
      if (std::string why = excess(*trial.record.artifact); !why.empty()) {
        trial.record.measurement = Measurement::failed(TrialStatus::NoResources, std::move(why));
        TILEC_TRY(keep(std::move(trial)));
        continue;
      }
      trial.code = codeIdentity(*trial.record.artifact);
      TILEC_TRY(place(std::move(trial), group, twins));
      if (group.size() >= evaluator.groupSize())
        TILEC_TRY(measure(group, twins));
    }
    while (!group.empty() && !stopped())
      TILEC_TRY(measure(group, twins));
    return {};
  }

  /// Shares the result of equal code, else waits to be measured.
  Status place(Trial trial, std::vector<Trial> &group, std::vector<Trial> &twins) {
    if (measured.contains(trial.code))
      return share(std::move(trial));
    bool waits = std::ranges::find(group, trial.code, &Trial::code) != group.end();
    (waits ? twins : group).push_back(std::move(trial));
    return {};
  }

  Status share(Trial trial) {
    const auto &[first, m] = measured.at(trial.code);
    trial.record.measurement = m;
    trial.record.measurement.reason = sharedReason(first->configuration, trial.item->configuration);
    return keep(std::move(trial));
  }

  /// Which hints made no difference to the code.
  static std::string sharedReason(const Configuration &first, const Configuration &other) {
    std::vector<std::string> without;
    for (const auto &[hint, value] : other.hints)
      if (auto it = first.hints.find(hint); it == first.hints.end() || it->second != value)
        without.push_back(hint);
    for (const auto &[hint, value] : first.hints)
      if (!other.hints.contains(hint))
        without.push_back(hint);
    std::string text = fmt::format("same code as configuration {}", first.id);
    if (first.parameters == other.parameters && !without.empty())
      text += fmt::format(": {} without effect", join(without, ", "));
    return text;
  }

  /// Evaluates a group and stores its results. What is left in the group afterwards are twins of codes that failed:
  /// only what the code itself decided is shared, and a worker may die of something else.
  Status measure(std::vector<Trial> &group, std::vector<Trial> &twins) {
    std::vector<Candidate> candidates;
    for (const Trial &t : group)
      candidates.push_back({t.item->configuration, t.item->prepared, *t.record.artifact});
    std::vector<Measurement> results = evaluator.evaluateGroup(candidates);
    result.evaluated += group.size();
    std::vector<Trial> done = std::move(group);
    group.clear();
    for (size_t i = 0; i < done.size(); ++i) {
      done[i].record.measurement = std::move(results[i]);
      const Measurement &m = done[i].record.measurement;
      // A trial that was broken off by Ctrl-C says nothing of its configuration.
      if (stopped() && isFailure(m.status))
        continue;
      if (!isFailure(m.status))
        measured.emplace(done[i].code, std::pair(done[i].item, m));
      TILEC_TRY(keep(std::move(done[i])));
    }
    for (Trial &twin : std::exchange(twins, {}))
      TILEC_TRY(place(std::move(twin), group, twins));
    return {};
  }

  /// Stores a trial and shows it; the fastest few are kept for the finals.
  Status keep(Trial trial) {
    TILEC_TRY(cache.insert(trial.record, options.fresh));
    finish(*trial.item, trial.record, false);
    if (isFailure(trial.record.measurement.status))
      return {};
    auto same = std::ranges::find_if(finalists, [&](const Finalist &f) { return f.front().code == trial.code; });
    if (same != finalists.end()) {
      same->push_back(std::move(trial));
      return {};
    }
    finalists.emplace_back().push_back(std::move(trial));
    std::ranges::sort(finalists, {}, [](const Finalist &f) {
      return std::pair(f.front().record.measurement.median, f.front().item->configuration.id);
    });
    auto own = [](const Finalist &f) {
      return std::ranges::any_of(f, [](const Trial &t) { return t.item->configuration.id == 0; });
    };
    for (size_t i = finalists.size(); i-- > tuner::finalists;)
      if (!own(finalists[i]))
        finalists.erase(finalists.begin() + long(i));
    return {};
  }

  /// Races of different groups lie minutes apart; the fastest of all are timed together once more.
  Status runFinals() {
    std::vector<Candidate> candidates;
    for (const Finalist &f : finalists)
      candidates.push_back({f.front().item->configuration, f.front().item->prepared, *f.front().record.artifact});
    if (candidates.empty())
      return {};
    if (options.progress)
      options.progress->finals(candidates.size());
    std::vector<Measurement> results = evaluator.finals(candidates, finalRounds);
    for (size_t i = 0; i < results.size(); ++i) {
      // What was right and timed once stays so: a final that failed says more of the machine.
      if (isFailure(results[i].status))
        continue;
      for (Trial &t : finalists[i]) {
        std::string reason = std::exchange(t.record.measurement.reason, "");
        t.record.measurement = results[i];
        if (!reason.empty())
          t.record.measurement.reason = std::move(reason);
        TILEC_TRY(cache.insert(t.record, true));
        auto row = std::ranges::find(result.rows, t.item->configuration.id,
                                     [](const TrialRow &r) { return r.configuration.id; });
        *row = rowOf(*t.item, t.record, false);
      }
    }
    return {};
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

  TrialRow rowOf(const Item &item, const TrialRecord &record, bool reused) {
    TrialRow row;
    row.configuration = item.configuration;
    row.status = record.measurement.status;
    row.reason = record.measurement.reason;
    row.median = record.measurement.median;
    row.low = record.measurement.low;
    row.high = record.measurement.high;
    row.sustained = record.measurement.clocks.value("sustained_seconds", 0.0);
    row.samples = int(record.measurement.samples.size());
    row.footprint = record.footprint;
    row.reused = reused;
    addFigures(item, row);
    return row;
  }

  void finish(const Item &item, const TrialRecord &record, bool reused) {
    result.rows.push_back(rowOf(item, record, reused));
    const TrialRow &added = result.rows.back();
    result.reused += reused;
    result.failed += isFailure(added.status);
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
  std::map<std::string, std::pair<const Item *, Measurement>> measured; ///< by code: the item that was measured
  std::vector<Finalist> finalists;                                      ///< by time
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
