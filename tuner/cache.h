#pragma once
// What tuning remembers, in one SQLite file. A cache that cannot be written lets the work go on in memory and says so.
#include "tuner/trial.h"
#include <filesystem>
#include <memory>
#include <set>

namespace tilec::tuner {

/// Version of schema.sql, in `user_version`; part of every key.
inline constexpr int cacheSchema = 1;

/// The machine, or the architecture that a prediction is for.
struct Environment {
  std::string gpu;        ///< empty: predicted
  std::string arch;       ///< full: sm_90a
  std::string capability; ///< 9.0
  int64_t sms = 0, l2Bytes = 0;
  std::string driver; ///< recorded with each trial; a change is warned of
  std::string toolkit, assembler, tool;
};

struct KernelId {
  std::string hash, name, file;
};

struct ProblemId {
  KernelId kernel;
  Values values; ///< complete
  std::string strides = "contiguous";
  int64_t alignment = 16;
};

/// Every part of a trial's identity: what can change its validity or its time.
struct TrialKey {
  Json parts = Json::object();
  std::string hash() const;
};

struct TrialRecord {
  TrialKey key;
  ProblemId problem;
  Environment environment;
  Configuration configuration;
  std::string policy, verification;
  Measurement measurement;
  std::optional<Artifact> artifact;
  std::string artifactKey; ///< sha256; names the artifact among builds of other configurations
  double compileSeconds = 0;
  // Set by the cache alone:
  int64_t id = 0; ///< of the row
  std::string created;
  Footprint footprint;
  std::string code;       ///< codeIdentity() of the artifact; empty without one
  std::string binaryHash; ///< of the first cubin
};

/// One problem in one environment, for `cache ls`.
struct CacheEntry {
  int64_t problemId = 0;
  std::string kernel, file, problem, gpu, arch, policy;
  int64_t trials = 0, failed = 0;
  std::string winner; ///< configuration, empty when every trial failed
  double median = 0;  ///< seconds
  std::string newest; ///< UTC
};
/// What a record's verification says when its results were held against nothing.
inline constexpr std::string_view notVerified = "none";

/// What choosing a winner needs of a record.
Ranked rankedOf(const TrialRecord &trial);
/// Sorted by where and how they were timed, then by time; failures last.
std::vector<TrialRecord> byTime(std::vector<TrialRecord> trials);
/// Rows that win: one for each environment and policy among trials of one problem.
std::set<int64_t> winners(const std::vector<TrialRecord> &trials);
Json toJson(const CacheEntry &entry);
Json toJson(const TrialRecord &record);

class Cache {
public:
  /// Opens or creates. A cache that cannot be written (read-only, full disk) is copied to memory, and notice() says
  /// that nothing is saved; a corrupt one is moved aside, and notice() says where. Errors (Usage): a folder or file
  /// that others may write to, another program's database, a newer schema.
  static Result<Cache> open(const std::filesystem::path &file);
  /// A cache that is never saved.
  static Result<Cache> inMemory();
  /// `TILEC_CACHE_DIR/tilec.db`, or the user's cache folder.
  static std::filesystem::path defaultFile();

  Cache(Cache &&) noexcept;
  Cache &operator=(Cache &&) noexcept;
  ~Cache();

  const std::filesystem::path &file() const;
  bool saves() const;
  /// What the user must be told of the state of the file: "not saved: …", "moved aside to …"; empty when all is well.
  std::string notice() const;

  /// The trial of a key, with its artifact when `withArtifact`. A row or a binary that is damaged (its checksum is
  /// wrong, say) is a miss, forgotten, and told of by notice().
  std::optional<TrialRecord> find(const TrialKey &key, bool withArtifact);
  /// Adds a trial. A trial of the same key stays, unless `replace`. A full or broken disk moves the cache to memory;
  /// only a defect is an error.
  Status insert(const TrialRecord &record, bool replace = false);
  /// Trials of a problem for an architecture, newest first; without artifacts.
  std::vector<TrialRecord> trials(const ProblemId &problem, std::string_view arch);
  std::vector<TrialRecord> trials(int64_t problemId);
  /// Of every problem, environment and version of a kernel of this name.
  std::vector<TrialRecord> trialsOfKernel(std::string_view name);
  std::vector<CacheEntry> list();
  /// A choice made by hand for a problem.
  std::optional<Configuration> pinned(const ProblemId &problem, std::string_view arch);
  Status pin(const ProblemId &problem, std::string_view arch, const Configuration &configuration,
             std::string_view reason);

  struct Impl; ///< cache_impl.h

private:
  explicit Cache(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace tilec::tuner
