#include "tuner/session.h"
#include "compiler/base/text.h"
#include "compiler/driver/isolate.h"
#include "compiler/target/target.h"
#include "tuner/compile_pool.h"
#include "tuner/identity.h"
#include "tuner/outcome.h"
#include "tuner/reference.h"
#include <algorithm>
#include <chrono>
#include <set>
#include <unistd.h>

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
    result.recipe = recipe.path;
    result.environment = evaluator.environment();
    result.policy = evaluator.policy();
    result.predicted = !evaluator.measures();
    TILEC_TRY(enumerate(overrides));
    TILEC_TRY(prepareItems());
    lookUp();
    size_t known = size_t(std::ranges::count_if(items, [](const Item &i) { return i.known.has_value(); }));
    if (options.progress)
      options.progress->begin(result.problem, result.space, items.size(), known);
    result.total = items.size();
    for (const Item &item : items)
      if (item.known)
        finish(item, *item.known, item.reused);
    if (known < items.size() && !stopped())
      TILEC_TRY(evaluateRest());
    result.interrupted |= result.rows.size() < items.size();
    conclude();
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (options.progress)
      options.progress->end(result);
    return std::move(result);
  }

private:
  bool stopped() const { return options.stop && options.stop->load(); }

  Status enumerate(const std::vector<Override> &overrides) {
    SpaceRequest request{&builder.interface(), &arch,        result.problem, recipe.space, {},
                         options.accesses,     options.limit};
    request.overrides.insert(request.overrides.end(), overrides.begin(), overrides.end());
    // The kernel under its own defaults: it shows the access sites, and that there is something to tune at all.
    auto own = builder.prepare({}, result.problem, arch);
    if (!own)
      own = firstEligible(request);
    if (own && own->program) {
      TILEC_TRY(checkWork(*own, result.problem, arch));
      request.sites = own->program->sites;
    }
    TILEC_ASSIGN(result.space, enumerateSpace(request));
    dropForeignSites();
    TILEC_ASSIGN(KernelId kernel, kernelId(builder, arch, result.problem));
    id = problemId(std::move(kernel), result.problem);
    return {};
  }

  /// A kernel whose defaults are not eligible for this problem may have other configurations that are.
  Result<Prepared> firstEligible(SpaceRequest request) {
    constexpr size_t tries = 64;
    request.accesses = false;
    std::erase_if(request.overrides, [](const Override &o) { return o.name.contains('.'); });
    TILEC_ASSIGN(Space space, enumerateSpace(request));
    for (const Configuration &c : std::span(space.configurations).first(std::min(tries, space.configurations.size())))
      if (auto prepared = builder.prepare(c, result.problem, arch))
        return prepared;
    return programError("no configuration is eligible");
  }

  /// A branch on a parameter may leave a site out: a configuration without it is one without its hints. What is equal
  /// then is tried once.
  void dropForeignSites() {
    std::map<std::string, std::set<std::string>> sites; // by configuration without hints of sites
    std::set<std::string> seen;
    std::vector<Configuration> kept;
    for (Configuration &c : result.space.configurations) {
      Configuration plain = c;
      std::erase_if(plain.hints, [](const auto &hint) { return hint.first.contains('.'); });
      if (plain.hints.size() < c.hints.size()) {
        auto [it, isNew] = sites.try_emplace(toString(plain));
        if (isNew)
          if (auto prepared = builder.prepare(plain, result.problem, arch); prepared && prepared->program)
            for (const sema::Site &site : prepared->program->sites)
              it->second.insert(site.name);
        // Nothing is known of a configuration that is refused; it gets its reason later.
        if (!it->second.empty())
          std::erase_if(c.hints, [&](const auto &hint) {
            size_t dot = hint.first.rfind('.');
            return dot != std::string::npos && !it->second.contains(hint.first.substr(0, dot));
          });
      }
      if (seen.insert(toString(c)).second) {
        c.id = int(kept.size());
        kept.push_back(std::move(c));
      }
    }
    result.space.configurations = std::move(kept);
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
        TILEC_TRY(keepRefusal(*item.known));
      }
      items.push_back(std::move(item));
    }
    return {};
  }

  /// The checker's refusal costs nothing to find again, so it is kept for the record alone.
  Status keepRefusal(const TrialRecord &record) {
    auto stored = cache.find(record.key, false);
    if (stored && stored->measurement.reason == record.measurement.reason)
      return {};
    return cache.insert(record, true);
  }

  TrialKey keyOf(const Item &item) const {
    return trialKey({item.prepared.irHash, id, result.environment, item.configuration, result.policy,
                     evaluator.verification(result.problem)});
  }

  TrialRecord blank(const Item &item) const {
    TrialRecord r;
    r.key = item.key;
    r.problem = id;
    r.environment = result.environment;
    r.configuration = item.configuration;
    r.policy = result.policy;
    r.verification = evaluator.verification(result.problem);
    r.artifactKey = artifactKey(item.prepared.irHash, result.environment, item.configuration);
    return r;
  }

  void lookUp() {
    std::set<std::string> otherDrivers;
    for (Item &item : items) {
      if (item.known || options.fresh)
        continue;
      // With its code, whose checksum says whether it is still what was measured.
      item.known = cache.find(item.key, true);
      if (!item.known)
        continue;
      item.known->artifact.reset();
      if (item.known->environment.driver != result.environment.driver)
        otherDrivers.insert(item.known->environment.driver);
      item.reused = true;
      if (!item.known->code.empty() && !isFailure(item.known->measurement.status))
        measured.emplace(item.known->code, std::pair(&item, item.known->measurement));
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
    for (std::string &remark : evaluator.notes())
      note(std::move(remark));
    return {};
  }

  Status evaluateBatch(std::span<Item *> batch, unsigned jobs) {
    std::vector<const Prepared *> work;
    for (Item *item : batch)
      work.push_back(&item->prepared);
    CompilePool pool(builder, work, jobs);
    if (!evaluator.measures())
      pool.wait([&] { return this->stopped(); });
    std::vector<Trial> group;
    std::vector<Trial> twins; ///< of codes that are in the group
    for (size_t i = 0; i < batch.size() && !stopped(); ++i) {
      Item &item = *batch[i];
      CompilePool::Built built = pool.take(i);
      if (stopped())
        break;
      Trial trial{&item, blank(item)};
      trial.record.compileSeconds = built.seconds;
      ++result.compiled;
      if (!built.artifact) {
        trial.record.measurement = Measurement::failed(TrialStatus::CompileFailed, built.artifact.error().message);
        trial.record.measurement.transient = driver::isTransient(built.artifact.error());
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
      trial.record.code = codeIdentity(tilec::toJson(*trial.record.artifact));
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
    if (measured.contains(trial.record.code))
      return share(std::move(trial));
    bool waits = std::ranges::any_of(group, [&](const Trial &t) { return t.record.code == trial.record.code; });
    (waits ? twins : group).push_back(std::move(trial));
    return {};
  }

  Status share(Trial trial) {
    const auto &[first, m] = measured.at(trial.record.code);
    trial.record.measurement = m;
    // Numbers are those of one space; what is stored names the configuration itself.
    trial.record.measurement.reason = "same code as " + toString(first->configuration);
    return keep(std::move(trial));
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
      Measurement &m = done[i].record.measurement;
      // A trial that was broken off by Ctrl-C says nothing of its configuration.
      if (stopped() && isFailure(m.status))
        continue;
      refuseImpossible(*done[i].item, m);
      if (!isFailure(m.status))
        measured.emplace(done[i].record.code, std::pair(done[i].item, m));
      TILEC_TRY(keep(std::move(done[i])));
    }
    for (Trial &twin : std::exchange(twins, {}))
      TILEC_TRY(place(std::move(twin), group, twins));
    return {};
  }

  /// A time that no run can have shows that the work was not done, whatever the outputs say: indices that are random
  /// may ask for none.
  void refuseImpossible(const Item &item, Measurement &m) {
    const Work *w = workOfItem(item);
    if (isFailure(m.status) || result.predicted || !w)
      return;
    if (std::string why = impossible(m.median, *w, machine, result.policy == "cold"); !why.empty()) {
      m.status = TrialStatus::TooFast;
      m.reason = std::move(why);
    }
  }

  /// Stores a trial and shows it; the fastest few are kept for the finals.
  Status keep(Trial trial) {
    TrialRecord &record = trial.record;
    if (!isFailure(record.measurement.status) && record.measurement.checks == 0)
      record.verification = notVerified;
    if (!record.measurement.transient)
      TILEC_TRY(cache.insert(record, options.fresh));
    finish(*trial.item, record, false);
    if (isFailure(record.measurement.status))
      return {};
    auto same =
        std::ranges::find_if(finalists, [&](const Finalist &f) { return f.front().record.code == trial.record.code; });
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
    auto now = std::chrono::system_clock::now().time_since_epoch();
    std::string race = fmt::format("{:x}-{}", std::chrono::nanoseconds(now).count(), getpid());
    for (size_t i = 0; i < results.size(); ++i) {
      // What was right and timed once stays so: a final that failed says more of the machine.
      if (isFailure(results[i].status))
        continue;
      results[i].clocks["finals"] = race;
      for (Trial &t : finalists[i]) {
        std::string reason = std::exchange(t.record.measurement.reason, "");
        results[i].checks = t.record.measurement.checks;
        t.record.measurement = results[i];
        refuseImpossible(*t.item, t.record.measurement);
        if (!reason.empty())
          t.record.measurement.reason = std::move(reason);
        TILEC_TRY(cache.insert(t.record, true));
        auto row = std::ranges::find(result.rows, t.item->configuration.id,
                                     [](const TrialRow &r) { return r.configuration.id; });
        result.failed += isFailure(t.record.measurement.status);
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

  TrialRow rowOf(const Item &item, const TrialRecord &record, bool reused) {
    TrialRow row;
    row.configuration = item.configuration;
    row.status = record.measurement.status;
    row.reason = record.measurement.reason;
    row.median = record.measurement.median;
    row.low = record.measurement.low;
    row.high = record.measurement.high;
    row.sustained = record.measurement.clocks.value("sustained_seconds", 0.0);
    row.times = record.measurement.samples;
    row.samples = int(row.times.size());
    row.finals = finalsOf(record.measurement);
    row.code = record.code;
    row.footprint = record.footprint;
    row.reused = reused;
    row.verified = !isFailure(row.status) && record.verification != notVerified;
    row.transient = record.measurement.transient;
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

  const Work *workOfItem(const Item &item) {
    if (!work && item.prepared.program)
      if (auto w = workOf(recipe, driver::plan(*item.prepared.source, *item.prepared.program), result.problem))
        work = *w;
    return work ? &*work : nullptr;
  }

  void addFigures(const Item &item, TrialRow &row) {
    const Work *w = row.median > 0 ? workOfItem(item) : nullptr;
    if (!w)
      return;
    row.bytesPerSecond = w->bytes / row.median;
    row.flopsPerSecond = w->flops / row.median;
    row.roofline = w->floor(machine) / row.median;
  }

  void conclude() {
    nameSharedCode(result.rows);
    result.winner = rankRows(result.rows);
    for (const std::string &n : result.space.notes)
      note(n);
    if (std::vector<std::string> idle = hintsWithoutEffect(result.rows, result.space); !idle.empty())
      note(fmt::format("{} without effect: every value gives the same code", join(idle, ", ")));
    auto count = [&](auto what) { return std::ranges::count_if(result.rows, what); };
    if (auto n = count([](const TrialRow &r) { return !isFailure(r.status) && !r.verified; }))
      note(fmt::format("{} of {} configurations were not verified", n, result.rows.size()));
    if (auto n = count([](const TrialRow &r) { return r.transient; }))
      note(fmt::format("{} failed for want of something that the machine may have again; the next run tries them", n));
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
