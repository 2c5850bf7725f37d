#include "cli/commands.h"
#include "compiler/base/text.h"
#include "tuner/cache.h"
#include <charconv>

namespace tilec::cli {
namespace {

std::string microseconds(double seconds) { return seconds > 0 ? fmt::format("{:.2f} µs", seconds * 1e6) : ""; }

class CacheCommand : public Command {
  std::string action, id, file;

public:
  void options(std::vector<OptionRow> &rows) override {
    rows.push_back({"ACTION", "", "ls, show or stats", &action, {"ls", "show", "stats"}});
    rows.push_back({"ID", "", "show: the problem's number, as ls prints it", &id});
    rows.push_back({"--cache", "FILE", "the cache, instead of the user's", &file});
  }

  Result<int> run(Context &context) override {
    if (action.empty())
      return withHelp(usageError("tilec cache needs an action"), "ls, show ID or stats");
    std::filesystem::path path = file.empty() ? tuner::Cache::defaultFile() : std::filesystem::path(file);
    std::error_code ec;
    if (!std::filesystem::exists(path, ec)) {
      if (!file.empty())
        return usageError("there is no cache {}", file);
      if (context.json)
        context.out.print(Json{{"schema", "tilec.cache.1"}, {"file", path.string()}, {"entries", Json::array()}}.dump(2) +
                          "\n");
      else
        context.out.print(fmt::format("{}: nothing is stored yet\n", path.string()));
      return 0;
    }
    TILEC_ASSIGN(tuner::Cache cache, tuner::Cache::open(path));
    if (std::string notice = cache.notice(); !notice.empty())
      context.err.print(fmt::format("{} {}\n", context.err.styled(Style::Yellow, "cache:"), notice));
    if (action == "show")
      return show(context, cache);
    return action == "ls" ? list(context, cache) : stats(context, cache);
  }

private:
  Result<int> list(Context &context, tuner::Cache &cache) {
    Json entries = Json::array();
    Table table{{{"id", true}, {"kernel"}, {"problem"}, {"on"}, {"trials", true}, {"failed", true}, {"winner"}, {"time", true}},
                {}};
    for (const tuner::CacheEntry &e : cache.list()) {
      entries.push_back(toJson(e));
      table.rows.push_back({fmt::format("{}", e.problemId), e.kernel, e.problem,
                            e.gpu.empty() ? e.arch + " (predicted)" : fmt::format("{} ({})", e.gpu, e.arch),
                            fmt::format("{}", e.trials), fmt::format("{}", e.failed), e.winner, microseconds(e.median)});
    }
    if (context.json)
      context.out.print(
          Json{{"schema", "tilec.cache.1"}, {"file", cache.file().string()}, {"entries", entries}}.dump(2) + "\n");
    else
      context.out.print(table.rows.empty() ? "nothing is stored yet\n" : table.text(context.out));
    return 0;
  }

  Result<int> show(Context &context, tuner::Cache &cache) {
    int64_t number = 0;
    auto r = std::from_chars(id.data(), id.data() + id.size(), number);
    if (id.empty() || r.ec != std::errc() || r.ptr != id.data() + id.size())
      return withHelp(usageError("show needs the number of a problem"), "`tilec cache ls` prints the numbers");
    std::vector<tuner::TrialRecord> trials = cache.trials(number);
    if (trials.empty())
      return withHelp(usageError("the cache has no problem {}", number), "`tilec cache ls` prints the numbers");
    Json list = Json::array();
    Table table{{{"configuration"}, {"status"}, {"time", true}, {"policy"}, {"verification"}, {"when"}, {"reason"}}, {}};
    for (const tuner::TrialRecord &t : trials) {
      list.push_back(toJson(t));
      table.rows.push_back({tuner::toString(t.configuration), std::string(tuner::name(t.measurement.status)),
                            microseconds(t.measurement.median), t.policy, t.verification, t.created,
                            t.measurement.reason});
    }
    context.out.print(context.json ? Json{{"schema", "tilec.trials.1"}, {"trials", list}}.dump(2) + "\n"
                                   : table.text(context.out));
    return 0;
  }

  Result<int> stats(Context &context, tuner::Cache &cache) {
    int64_t problems = 0, trials = 0, failed = 0, predicted = 0;
    for (const tuner::CacheEntry &e : cache.list()) {
      ++problems;
      trials += e.trials;
      failed += e.failed;
      predicted += e.gpu.empty() ? e.trials : 0;
    }
    std::error_code ec;
    uint64_t bytes = std::filesystem::file_size(cache.file(), ec);
    if (context.json)
      context.out.print(Json{{"schema", "tilec.cache-stats.1"},
                             {"file", cache.file().string()},
                             {"bytes", ec ? 0 : bytes},
                             {"problems", problems},
                             {"trials", trials},
                             {"failed", failed},
                             {"predicted", predicted}}
                            .dump(2) +
                        "\n");
    else
      context.out.print(fmt::format("{}: {} bytes, {} problems, {} trials, {} of them failed, {} predicted\n",
                                    cache.file().string(), groupDigits(ec ? 0 : bytes), problems, trials, failed,
                                    predicted));
    return 0;
  }
};

} // namespace

std::unique_ptr<Command> makeCache() { return std::make_unique<CacheCommand>(); }

} // namespace tilec::cli
