// Reading the cache. Whatever cannot be read is a miss: what a query cannot answer is measured again.
#include "compiler/base/hash.h"
#include "compiler/base/log.h"
#include "runtime/stats.h"
#include "tuner/cache.h"
#include "tuner/cache_impl.h"
#include <algorithm>

namespace tilec::tuner {

using db::Statement;

namespace {

/// Columns that every query of trials selects, in the order record() reads them.
constexpr std::string_view columns =
    "trial.id, trial.key_parts, trial.configuration, trial.configuration_id, trial.policy, trial.verification, "
    "trial.status, trial.reason, trial.median, trial.low, trial.high, trial.samples, trial.clocks, trial.driver, "
    "trial.created, environment.gpu, environment.arch, environment.capability, environment.sms, environment.l2_bytes, "
    "environment.toolkit, environment.assembler, environment.tool, kernel.hash, kernel.name, kernel.file, "
    "problem.extents, problem.dtypes, problem.strides, problem.alignment, artifact.key, artifact.compile_seconds, "
    "artifact.plan, coalesce(artifact.registers * artifact.threads, 0), coalesce(artifact.shared_bytes, 0), "
    "coalesce(artifact.binary_hash, '')";
constexpr std::string_view tables =
    "trial JOIN problem ON problem.id = trial.problem_id JOIN kernel ON kernel.id = problem.kernel_id "
    "JOIN environment ON environment.id = trial.environment_id LEFT JOIN artifact ON artifact.id = trial.artifact_id";

/// A row as a record; nothing when a column does not hold what it should.
std::optional<TrialRecord> record(const Statement &s) {
  TrialRecord r;
  auto json = [&](int column) { return Json::parse(s.text(column), nullptr, false); };
  r.id = s.integer(0);
  r.key.parts = json(1);
  auto configuration = configurationFromJson(json(2));
  auto status = parseTrialStatus(s.text(6));
  Json samples = json(11), extents = json(26), plan = json(32);
  extents.update(json(27).is_object() ? json(27) : Json::object());
  auto values = valuesFromJson(extents);
  if (!configuration || !status || !values || r.key.parts.is_discarded() || !samples.is_array())
    return std::nullopt;
  r.configuration = std::move(*configuration);
  r.configuration.id = int(s.integer(3));
  r.policy = s.text(4);
  r.verification = s.text(5);
  r.measurement.status = *status;
  r.measurement.reason = s.text(7);
  r.measurement.median = s.real(8);
  r.measurement.low = s.real(9);
  r.measurement.high = s.real(10);
  for (const Json &t : samples)
    if (t.is_number())
      r.measurement.samples.push_back(t.get<double>());
  r.measurement.clocks = json(12).is_object() ? json(12) : Json::object();
  r.created = s.text(14);
  r.environment = {.gpu = s.text(15),
                   .arch = s.text(16),
                   .capability = s.text(17),
                   .sms = s.integer(18),
                   .l2Bytes = s.integer(19),
                   .driver = s.text(13),
                   .toolkit = s.text(20),
                   .assembler = s.text(21),
                   .tool = s.text(22)};
  r.problem = {.kernel = {s.text(23), s.text(24), s.text(25)},
               .values = std::move(*values),
               .strides = s.text(28),
               .alignment = s.integer(29)};
  r.artifactKey = s.text(30);
  r.compileSeconds = s.real(31);
  r.footprint = {s.integer(33), s.integer(34)};
  r.binaryHash = s.text(35);
  if (plan.is_object())
    r.code = codeIdentity(plan);
  // The figure that decides is held against the samples that it was made of.
  if (*status == TrialStatus::Ok && runtime::median(r.measurement.samples) != r.measurement.median)
    return std::nullopt;
  r.measurement.checks = r.verification == notVerified ? 0 : 1;
  return r;
}

} // namespace

/// Artifact of a plan with its binaries, each held against its checksum.
static std::optional<Artifact> loadArtifact(db::Database &database, const std::string &plan) {
  Json json = Json::parse(plan, nullptr, false);
  if (json.is_discarded())
    return std::nullopt;
  auto artifact = artifactFromJson(json);
  if (!artifact)
    return std::nullopt;
  for (size_t i = 0; i < artifact->binaries.size(); ++i) {
    const Json &facts = json["binaries"][i];
    if (!facts.is_object() || !facts.contains("sha256") || !facts["sha256"].is_string())
      return std::nullopt;
    std::string hash = facts["sha256"].get<std::string>();
    auto query = database.prepare("SELECT bytes FROM binary WHERE hash = ?");
    if (!query)
      return std::nullopt;
    query->bind(hash);
    auto row = query->step();
    if (!row || !*row)
      return std::nullopt;
    artifact->binaries[i] = query->blob(0);
    if (sha256(artifact->binaries[i]) != hash)
      return std::nullopt;
  }
  return std::move(*artifact);
}

std::optional<TrialRecord> Cache::find(const TrialKey &key, bool withArtifact) {
  auto query = impl->open.database.prepare(fmt::format("SELECT {} FROM {} WHERE trial.key = ?", columns, tables));
  if (!query)
    return std::nullopt;
  query->bind(key.hash());
  auto row = query->step();
  if (!row || !*row)
    return std::nullopt;
  int64_t id = query->integer(0);
  auto found = record(*query);
  // The parts are compared as well: a row whose text was damaged is no answer.
  if (!found || found->key.parts != key.parts) {
    impl->forget(id, "a result");
    return std::nullopt;
  }
  if (withArtifact && !found->artifactKey.empty()) {
    found->artifact = loadArtifact(impl->open.database, query->text(32));
    if (!found->artifact) {
      impl->forget(id, "a cubin");
      return std::nullopt;
    }
  }
  return found;
}

void Cache::Impl::forget(int64_t trial, std::string_view what) {
  damaged(fmt::format("{} in the cache {} is damaged; it is built and measured again", what, path.string()));
  if (auto remove = open.database.prepare("DELETE FROM trial WHERE id = ?"))
    (void)remove->bind(trial).step();
}

static std::string place(const TrialRecord &t) {
  const Environment &e = t.environment;
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", e.gpu, e.arch, e.capability, e.sms, e.l2Bytes, e.toolkit,
                     e.assembler, e.tool, t.policy);
}

std::vector<TrialRecord> byTime(std::vector<TrialRecord> trials) {
  std::ranges::stable_sort(trials, {}, [](const TrialRecord &t) {
    bool failed = isFailure(t.measurement.status);
    return std::tuple(place(t), failed, failed ? 0.0 : t.measurement.median, t.configuration.id);
  });
  return trials;
}

std::set<int64_t> winners(const std::vector<TrialRecord> &trials) {
  std::map<std::string, std::vector<const TrialRecord *>> groups;
  for (const TrialRecord &t : trials)
    groups[place(t)].push_back(&t);
  std::set<int64_t> result;
  for (const auto &[where, members] : groups) {
    std::vector<Ranked> ranked;
    for (const TrialRecord *t : members)
      ranked.push_back(rankedOf(*t));
    if (auto best = chooseWinner(ranked))
      result.insert(members[*best]->id);
  }
  return result;
}

Ranked rankedOf(const TrialRecord &t) {
  const Measurement &m = t.measurement;
  return {t.configuration.id, m.status, m.median, t.footprint, m.samples, finalsOf(m)};
}

template <typename Bind>
static std::vector<TrialRecord> select(db::Database &database, std::string_view where, Bind bind) {
  std::vector<TrialRecord> result;
  auto query =
      database.prepare(fmt::format("SELECT {} FROM {} WHERE {} ORDER BY trial.id DESC", columns, tables, where));
  if (!query)
    return result;
  bind(*query);
  for (auto row = query->step(); row && *row; row = query->step())
    if (auto r = record(*query))
      result.push_back(std::move(*r));
    else
      logWarn("row {} of the cache cannot be read and is left out", query->integer(0));
  return result;
}

std::vector<TrialRecord> Cache::trials(const ProblemId &problem, std::string_view arch) {
  return select(impl->open.database,
                "kernel.hash = ? AND kernel.name = ? AND problem.problem = ? AND problem.strides = ? AND "
                "problem.alignment = ? AND environment.arch = ?",
                [&](Statement &s) {
                  s.bind(problem.kernel.hash).bind(problem.kernel.name).bind(toString(problem.values));
                  s.bind(problem.strides).bind(problem.alignment).bind(arch);
                });
}

std::vector<TrialRecord> Cache::trials(int64_t problemId) {
  return select(impl->open.database, "problem.id = ?", [&](Statement &s) { s.bind(problemId); });
}

std::vector<TrialRecord> Cache::trialsOfKernel(std::string_view name) {
  return select(impl->open.database, "kernel.name = ?", [&](Statement &s) { s.bind(name); });
}

std::vector<CacheEntry> Cache::list() {
  std::vector<CacheEntry> entries;
  auto query = impl->open.database.prepare(
      "SELECT problem.id, kernel.name, kernel.file, problem.problem, environment.gpu, environment.arch, trial.policy, "
      "count(*), sum(trial.status NOT IN ('ok', 'predicted')), max(trial.created), trial.environment_id "
      "FROM trial JOIN problem ON problem.id = trial.problem_id JOIN kernel ON kernel.id = problem.kernel_id "
      "JOIN environment ON environment.id = trial.environment_id "
      "GROUP BY trial.problem_id, trial.environment_id, trial.policy "
      "ORDER BY kernel.name, problem.problem, environment.arch, trial.policy, problem.id");
  if (!query)
    return entries;
  for (auto row = query->step(); row && *row; row = query->step()) {
    CacheEntry e{.problemId = query->integer(0),
                 .kernel = query->text(1),
                 .file = query->text(2),
                 .problem = query->text(3),
                 .gpu = query->text(4),
                 .arch = query->text(5),
                 .policy = query->text(6),
                 .trials = query->integer(7),
                 .failed = query->integer(8),
                 .winner = "",
                 .median = 0,
                 .newest = query->text(9)};
    int64_t environment = query->integer(10);
    auto trials = select(impl->open.database, "problem.id = ? AND trial.environment_id = ? AND trial.policy = ?",
                         [&](Statement &s) { s.bind(e.problemId).bind(environment).bind(e.policy); });
    std::set<int64_t> best = winners(trials);
    for (const TrialRecord &t : trials)
      if (best.contains(t.id)) {
        e.winner = toString(t.configuration);
        e.median = t.measurement.median;
      }
    entries.push_back(std::move(e));
  }
  return entries;
}

std::optional<Configuration> Cache::pinned(const ProblemId &problem, std::string_view arch) {
  auto query =
      impl->open.database.prepare("SELECT pin.configuration FROM pin JOIN problem ON problem.id = pin.problem_id "
                                  "JOIN kernel ON kernel.id = problem.kernel_id "
                                  "WHERE kernel.hash = ? AND kernel.name = ? AND problem.problem = ? AND pin.arch = ?");
  if (!query)
    return std::nullopt;
  query->bind(problem.kernel.hash).bind(problem.kernel.name).bind(toString(problem.values)).bind(arch);
  auto row = query->step();
  if (!row || !*row)
    return std::nullopt;
  auto c = configurationFromJson(Json::parse(query->text(0), nullptr, false));
  return c ? std::optional(std::move(*c)) : std::nullopt;
}

Json toJson(const CacheEntry &e) {
  return {{"problem_id", e.problemId},
          {"kernel", e.kernel},
          {"file", e.file},
          {"problem", e.problem},
          {"gpu", e.gpu.empty() ? Json() : Json(e.gpu)},
          {"arch", e.arch},
          {"policy", e.policy},
          {"trials", e.trials},
          {"failed", e.failed},
          {"winner", e.winner.empty() ? Json() : Json(e.winner)},
          {"median_seconds", e.median > 0 ? Json(e.median) : Json()},
          {"newest", e.newest}};
}

Json toJson(const TrialRecord &r) {
  const Measurement &m = r.measurement;
  auto time = [](double t) { return t > 0 ? Json(t) : Json(); };
  return {{"kernel", r.problem.kernel.name},
          {"problem", toJson(r.problem.values)},
          {"configuration_id", r.configuration.id},
          {"configuration", toJson(r.configuration)},
          {"gpu", r.environment.gpu.empty() ? Json() : Json(r.environment.gpu)},
          {"arch", r.environment.arch},
          {"policy", r.policy},
          {"verification", r.verification},
          {"status", name(m.status)},
          {"reason", m.reason},
          {"median_seconds", time(m.median)},
          {"low_seconds", time(m.low)},
          {"high_seconds", time(m.high)},
          {"samples", m.samples.size()},
          {"registers_per_block", r.footprint.registers},
          {"shared_bytes", r.footprint.shared},
          {"assembler", r.environment.assembler},
          {"tool", r.environment.tool},
          {"driver", r.environment.driver},
          {"created", r.created},
          {"key", r.key.hash()}};
}

} // namespace tilec::tuner
