#pragma once
// One tuning session: enumerate, look up, compile, verify, time, remember, choose.
#include "tuner/evaluator.h"
#include <atomic>

namespace tilec::tuner {

/// A line of the final table.
struct TrialRow {
  Configuration configuration;
  TrialStatus status = TrialStatus::Died;
  std::string reason;                   ///< of a failure, or what there is to know ("same code as 3")
  double median = 0, low = 0, high = 0; ///< seconds; 0 where there is no time
  double sustained = 0;                 ///< seconds without pauses between runs, of finalists
  int samples = 0;
  std::vector<double> times;                     ///< the samples themselves
  std::string finals;                            ///< see finalsOf()
  std::string code;                              ///< codeIdentity(); empty where nothing was compiled
  double bytesPerSecond = 0, flopsPerSecond = 0; ///< 0 without figures or time
  double roofline = 0;                           ///< fraction of what the machine can do at most, 0 when unknown
  Footprint footprint;
  bool reused = false;    ///< from the cache
  bool verified = false;  ///< its results were held against the executor's
  bool transient = false; ///< a failure of the machine; not stored
};

struct ProblemResult {
  Values problem;
  std::string kernel, recipe; ///< the recipe as the user writes it
  Environment environment;
  std::string policy; ///< cold, hot, graph, or model for predictions
  bool predicted = false;
  std::vector<TrialRow> rows;   ///< by time, failures last
  std::optional<size_t> winner; ///< index in rows; nothing when every configuration failed
  Space space;                  ///< axes, sizes, what conditions removed
  size_t total = 0;             ///< configurations; rows are fewer after an interrupt
  size_t reused = 0, compiled = 0, evaluated = 0, failed = 0;
  double seconds = 0;  ///< that this problem took
  std::string command; ///< builds the winner
  std::vector<std::string> notes;
  bool interrupted = false;
};
Json toJson(const TrialRow &row);
Json toJson(const ProblemResult &result);

struct TuneResult {
  std::vector<ProblemResult> problems;
  std::string cacheFile;
  std::string cacheNotice;        ///< "not saved: …", "moved aside to …"; empty when all is well
  std::vector<std::string> notes; ///< such as "no GPU: times are predicted"
  bool interrupted = false;
  /// Whether every problem has a winner.
  bool succeeded() const;
};
/// Schema "tilec.tune.1": raw numbers, units in the keys.
Json toJson(const TuneResult &result);

/// Called on the session's thread; the tool draws with it.
class Progress {
public:
  virtual ~Progress() = default;
  /// `total` configurations, of which `known` come from the cache.
  virtual void begin(const Values &problem, const Space &space, size_t total, size_t known) {}
  /// After each configuration. `best` is the fastest so far, or null.
  virtual void trial(const TrialRow &row, size_t done, size_t total, const TrialRow *best) {}
  /// Before the fastest are timed against each other.
  virtual void finals(size_t count) {}
  virtual void end(const ProblemResult &result) {}
};

struct SessionOptions {
  unsigned jobs = 0;                       ///< compiles at a time; 0: one for each core
  bool fresh = false;                      ///< measure again what is known
  const std::atomic<bool> *stop = nullptr; ///< set by Ctrl-C: finish with what there is
  Progress *progress = nullptr;
  size_t limit = 100000; ///< configurations
  bool accesses = false; ///< SpaceRequest::accesses
};

/// Tunes one problem. Errors: as enumerateSpace(), Evaluator::begin() and Builder::prepare() of the kernel's own
/// configuration. A configuration that fails is a row, not an error.
Result<ProblemResult> tuneProblem(const Recipe &recipe, Builder &builder, Evaluator &evaluator, Cache &cache,
                                  const Arch &arch, const Machine &machine, const Values &problem,
                                  const std::vector<Override> &overrides, const SessionOptions &options);

struct TuneRequest {
  Recipe recipe;
  const Arch *arch = nullptr;      ///< null: the GPU's; without a GPU an error
  std::vector<Values> problems;    ///< empty: the recipe's
  std::vector<Override> overrides; ///< --set and --range, after the recipe's own
  std::vector<std::string> inputs; ///< `a=arange:0,1`, instead of the recipe's
  std::filesystem::path cache;     ///< empty: Cache::defaultFile()
  int device = 0;
  bool predict = false; ///< do not measure even where a GPU could
  EvaluatorOptions evaluator;
  SessionOptions session;
};
/// Tunes a recipe on the GPU if there is one of the architecture, else predicts and says so.
Result<TuneResult> tune(const TuneRequest &request);

} // namespace tilec::tuner
