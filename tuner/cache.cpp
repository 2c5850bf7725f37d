#include "tuner/cache.h"
#include "compiler/base/files.h"
#include "compiler/base/hash.h"
#include "compiler/base/log.h"
#include "tuner/cache_impl.h"
#include <ctime>

namespace tilec::tuner {

using db::Failure;
using db::Fault;
using db::Outcome;
using db::Statement;

namespace {

/// Inserts one trial with every row that it refers to.
struct CacheWriter {
  Cache::Impl &impl;

  /// Finds or adds a row: `select` gives its id, `insert` makes it.
  template <typename Bind> Outcome<int64_t> rowOf(std::string_view select, std::string_view insert, Bind bind) {
    auto find = impl.open.database.prepare(select);
    if (!find)
      return std::unexpected(find.error());
    bind(*find, true);
    auto found = find->step();
    if (!found)
      return std::unexpected(found.error());
    if (*found)
      return find->integer(0);
    auto add = impl.open.database.prepare(insert);
    if (!add)
      return std::unexpected(add.error());
    bind(*add, false);
    if (auto done = add->step(); !done)
      return std::unexpected(done.error());
    return impl.open.database.lastRow();
  }

  Outcome<int64_t> environmentRow(const Environment &e) {
    std::string hash = sha256(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", e.gpu, e.arch, e.capability, e.sms,
                                          e.l2Bytes, e.toolkit, e.assembler, e.tool));
    return rowOf("SELECT id FROM environment WHERE hash = ?",
                 "INSERT INTO environment (hash, gpu, arch, capability, sms, l2_bytes, toolkit, assembler, tool) "
                 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 [&](Statement &s, bool select) {
                   s.bind(hash);
                   if (!select)
                     s.bind(e.gpu)
                         .bind(e.arch)
                         .bind(e.capability)
                         .bind(e.sms)
                         .bind(e.l2Bytes)
                         .bind(e.toolkit)
                         .bind(e.assembler)
                         .bind(e.tool);
                 });
  }

  Outcome<int64_t> problemRow(const ProblemId &p) {
    auto kernel = rowOf("SELECT id FROM kernel WHERE hash = ? AND name = ? AND file = ?",
                        "INSERT INTO kernel (hash, name, file) VALUES (?, ?, ?)",
                        [&](Statement &s, bool) { s.bind(p.kernel.hash).bind(p.kernel.name).bind(p.kernel.file); });
    if (!kernel)
      return kernel;
    Json extents = Json::object(), dtypes = Json::object();
    for (const auto &[name, value] : p.values)
      (std::holds_alternative<DType>(value) ? dtypes : extents)[name] = tilec::toJson(value);
    return rowOf("SELECT id FROM problem WHERE kernel_id = ? AND problem = ? AND strides = ? AND alignment = ?",
                 "INSERT INTO problem (kernel_id, problem, strides, alignment, extents, dtypes) "
                 "VALUES (?, ?, ?, ?, ?, ?)",
                 [&](Statement &s, bool select) {
                   s.bind(*kernel).bind(toString(p.values)).bind(p.strides).bind(p.alignment);
                   if (!select)
                     s.bind(toText(extents, -1)).bind(toText(dtypes, -1));
                 });
  }

  Outcome<int64_t> artifactRow(const TrialRecord &r) {
    const Artifact &a = *r.artifact;
    std::string first;
    for (const std::string &bytes : a.binaries) {
      std::string hash = sha256(bytes);
      if (first.empty())
        first = hash;
      // A damaged blob of this hash is mended by the way.
      auto add = impl.open.database.prepare("INSERT INTO binary (hash, bytes) VALUES (?1, ?2) "
                                            "ON CONFLICT (hash) DO UPDATE SET bytes = ?2 WHERE bytes <> ?2");
      if (!add)
        return std::unexpected(add.error());
      add->bind(hash).bindBlob(bytes);
      if (auto done = add->step(); !done)
        return std::unexpected(done.error());
    }
    int64_t registers = 0, shared = 0, spills = 0, threads = 0;
    for (const LaunchSpec &l : a.launches) {
      registers = std::max<int64_t>(registers, l.resources.registers);
      shared = std::max(shared, l.dynamicSharedBytes + l.resources.staticSharedBytes);
      spills = std::max<int64_t>(spills, l.resources.spillStoreBytes + l.resources.spillLoadBytes);
      threads = std::max<int64_t>(threads, l.threads);
    }
    // A damaged plan of this key is mended as well.
    auto add = impl.open.database.prepare(
        "INSERT INTO artifact (key, arch, plan, binary_hash, registers, shared_bytes, spill_bytes, threads, "
        "compile_seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET arch = excluded.arch, "
        "plan = excluded.plan, binary_hash = excluded.binary_hash, registers = excluded.registers, "
        "shared_bytes = excluded.shared_bytes, spill_bytes = excluded.spill_bytes, threads = excluded.threads "
        "RETURNING id");
    if (!add)
      return std::unexpected(add.error());
    add->bind(r.artifactKey).bind(a.arch).bind(toText(tilec::toJson(a), -1)).bind(first).bind(registers);
    add->bind(shared).bind(spills).bind(threads).bind(r.compileSeconds);
    auto row = add->step();
    if (!row)
      return std::unexpected(row.error());
    int64_t id = add->integer(0);
    // Only when it is done is the row there.
    if (auto done = add->step(); !done)
      return std::unexpected(done.error());
    return id;
  }

  Outcome<void> write(const TrialRecord &r, bool replace) {
    auto transaction = db::Transaction::begin(impl.open.database);
    if (!transaction)
      return std::unexpected(transaction.error());
    auto problem = problemRow(r.problem);
    if (!problem)
      return std::unexpected(problem.error());
    auto environment = environmentRow(r.environment);
    if (!environment)
      return std::unexpected(environment.error());
    std::optional<int64_t> artifact;
    if (r.artifact) {
      auto row = artifactRow(r);
      if (!row)
        return std::unexpected(row.error());
      artifact = *row;
    }
    auto add = impl.open.database.prepare(fmt::format(
        "INSERT OR {} INTO trial (key, key_parts, problem_id, environment_id, configuration, configuration_id, policy, "
        "verification, artifact_id, status, reason, samples_taken, median, low, high, samples, clocks, driver, "
        "created) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
        replace ? "REPLACE" : "IGNORE"));
    if (!add)
      return std::unexpected(add.error());
    const Measurement &m = r.measurement;
    add->bind(r.key.hash()).bind(toText(r.key.parts, -1)).bind(*problem).bind(*environment);
    add->bind(toText(tuner::toJson(r.configuration), -1)).bind(int64_t(r.configuration.id)).bind(r.policy);
    add->bind(r.verification);
    artifact ? add->bind(*artifact) : add->bindNull();
    add->bind(name(m.status)).bind(validText(m.reason)).bind(int64_t(m.samples.size()));
    for (double t : {m.median, m.low, m.high})
      t > 0 ? add->bind(t) : add->bindNull();
    add->bind(toText(Json(m.samples), -1)).bind(toText(m.clocks, -1)).bind(r.environment.driver);
    if (auto done = add->step(); !done)
      return std::unexpected(done.error());
    return transaction->commit();
  }

  static std::string validText(const std::string &text) { return text.substr(0, text.find('\0')); }
};

} // namespace

Result<bool> Cache::Impl::recover(const Failure &f) {
  logInfo("cache {}: {}", path.string(), f.message);
  if (!open.saves || f.fault == Fault::Other)
    return internalError("the cache failed: {}", f.message);
  if (f.fault == Fault::Corrupt) {
    // Lets go of the file, so that it can be moved.
    TILEC_ASSIGN(OpenCache memory, memoryCache());
    open.database = std::move(memory.database);
  }
  std::string said = open.notice;
  TILEC_ASSIGN(open,
               f.fault == Fault::Corrupt ? replaceCorrupt(path, f.message) : leaveFile(open.database, path, f.message));
  if (!said.empty())
    open.notice = said + "; " + open.notice;
  return true;
}

void Cache::Impl::damaged(std::string message) {
  if (open.notice.find(message) == std::string::npos)
    open.notice += (open.notice.empty() ? "" : "; ") + message;
}

std::string TrialKey::hash() const { return sha256(toText(parts, -1)); }

Cache::Cache(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Cache::Cache(Cache &&) noexcept = default;
Cache &Cache::operator=(Cache &&) noexcept = default;
Cache::~Cache() = default;

Result<Cache> Cache::open(const std::filesystem::path &file) {
  TILEC_ASSIGN(OpenCache opened, openCache(file));
  return Cache(std::make_unique<Impl>(Impl{std::move(opened), file}));
}
Result<Cache> Cache::inMemory() {
  TILEC_ASSIGN(OpenCache opened, memoryCache());
  return Cache(std::make_unique<Impl>(Impl{std::move(opened), ":memory:"}));
}
std::filesystem::path Cache::defaultFile() { return cacheDir() / "tilec.db"; }
const std::filesystem::path &Cache::file() const { return impl->path; }
bool Cache::saves() const { return impl->open.saves; }
std::string Cache::notice() const { return impl->open.notice; }

Status Cache::insert(const TrialRecord &record, bool replace) {
  // Twice: once on the file, once on what recovery put in its place.
  for (int attempt = 0;; ++attempt) {
    auto done = CacheWriter{*impl}.write(record, replace);
    if (done)
      return {};
    if (attempt == 2)
      return internalError("the cache failed: {}", done.error().message);
    TILEC_ASSIGN([[maybe_unused]] bool again, impl->recover(done.error()));
  }
}

static std::string isoNow() {
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Status Cache::pin(const ProblemId &problem, std::string_view arch, const Configuration &configuration,
                  std::string_view reason) {
  auto write = [&]() -> Outcome<void> {
    auto transaction = db::Transaction::begin(impl->open.database);
    if (!transaction)
      return std::unexpected(transaction.error());
    auto row = CacheWriter{*impl}.problemRow(problem);
    if (!row)
      return std::unexpected(row.error());
    auto add =
        impl->open.database.prepare("INSERT OR REPLACE INTO pin (problem_id, arch, configuration, reason, created) "
                                    "VALUES (?, ?, ?, ?, ?)");
    if (!add)
      return std::unexpected(add.error());
    add->bind(*row).bind(arch).bind(toText(tuner::toJson(configuration), -1)).bind(reason).bind(isoNow());
    if (auto done = add->step(); !done)
      return std::unexpected(done.error());
    return transaction->commit();
  };
  if (auto done = write(); !done)
    return usageError("not saved: {}", done.error().message);
  return {};
}

} // namespace tilec::tuner
