// The worker: owns the CUDA context, holds the buffers of problems, verifies and times artifacts. It trusts its parent
// and nothing that a kernel does.
#include "tuner/worker.h"
#include "compiler/base/files.h"
#include "runtime/launch.h"
#include "runtime/reports.h"
#include "runtime/timing.h"
#include "tuner/protocol.h"
#include "tuner/race.h"
#include <cerrno>
#include <csignal>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

namespace tilec::tuner {
namespace {

using runtime::DeviceArray;
using runtime::HostArray;

/// One problem with its device memory.
struct Held {
  std::vector<ArrayPlan> plans;
  std::vector<DeviceArray> arrays;
  std::vector<std::optional<HostArray>> pristine; ///< contents that must be put back: inputs that a kernel may write
  std::vector<DeviceArray> copies;                ///< of those, on the device, to be put back between samples
  std::vector<size_t> copied;                     ///< which array each copy is of
  std::vector<Expected> outputs;
  std::map<std::string, HostArray> golden; ///< outputs proven on samples; later ones are compared in full
  Values values;
  std::string arch;
  uint64_t seed = 0;

  runtime::LaunchArguments arguments(const runtime::DeviceFacts &facts) const {
    runtime::LaunchArguments a;
    a.env.values = values;
    a.env.arch = arch;
    a.env.numSms = facts.multiprocessors;
    for (size_t i = 0; i < plans.size(); ++i)
      if (plans[i].mode != ArrayMode::Scratch)
        a.arrays.emplace(plans[i].name, runtime::argument(arrays[i]));
    return a;
  }
};

/// A trial's failure with the status it gives the configuration.
struct Verdict {
  TrialStatus status;
  std::string reason;
  bool sticky = false;
};
using Judged = std::expected<void, Verdict>;

std::unexpected<Verdict> verdict(const Error &error, TrialStatus status) {
  if (runtime::isSticky(error))
    return std::unexpected(Verdict{TrialStatus::Faulted, error.message, true});
  if (error.detail.find("OUT_OF_RESOURCES") != std::string::npos)
    status = TrialStatus::NoResources;
  return std::unexpected(Verdict{status, error.message, false});
}

class Worker {
public:
  Json answer(const Json &request) {
    std::string op = request.value("op", "");
    Result<Json> reply = op == "hello"     ? hello(request)
                         : op == "problem" ? problem(request)
                         : op == "load"    ? load(request)
                         : op == "time"    ? time(request)
                         : op == "unload"  ? unload(request)
                         : op == "release" ? release(request)
                                           : internalError("unknown request '{}'", op);
    return reply ? *reply : failureMessage(reply.error());
  }

private:
  Result<Json> hello(const Json &request) {
    if (request.value("protocol", 0) != protocolVersion)
      return internalError("the worker speaks protocol {}, not {}", protocolVersion, request.value("protocol", 0));
    TILEC_ASSIGN(device, runtime::Device::open(request.value("device", 0)));
    TILEC_ASSIGN(timer, runtime::Timer::create(*device));
    TILEC_TRY(timer->warmClock());
    return Json{{"ok", true}, {"protocol", protocolVersion}, {"gpu", toJson(device->facts())}};
  }

  Result<Json> problem(const Json &request) {
    if (!device)
      return internalError("a problem before hello");
    Held held;
    held.seed = request.value("seed", uint64_t(0));
    held.arch = request.value("arch", "");
    TILEC_ASSIGN(held.values, valuesFromJson(request.value("values", Json::object())));
    for (const Json &json : request.value("arrays", Json::array())) {
      TILEC_ASSIGN(ArrayPlan plan, arrayPlanFromJson(json));
      TILEC_ASSIGN(DeviceArray array, DeviceArray::create(*device, plan.name, plan.dtype, plan.extents, plan.strides));
      std::optional<HostArray> keep;
      if (plan.mode == ArrayMode::In || plan.mode == ArrayMode::InOut) {
        TILEC_ASSIGN(HostArray host, makeArray(plan, held.seed, uint32_t(held.plans.size())));
        TILEC_TRY(array.upload(host));
        if (plan.mode == ArrayMode::InOut) {
          TILEC_ASSIGN(DeviceArray copy,
                       DeviceArray::create(*device, "a copy of " + plan.name, plan.dtype, plan.extents, plan.strides));
          TILEC_TRY(copy.upload(host));
          held.copies.push_back(std::move(copy));
          held.copied.push_back(held.plans.size());
          keep = std::move(host);
        }
      }
      held.plans.push_back(std::move(plan));
      held.arrays.push_back(std::move(array));
      held.pristine.push_back(std::move(keep));
    }
    for (const Json &json : request.value("outputs", Json::array())) {
      TILEC_ASSIGN(ExpectedFile file, expectedFileFromJson(json));
      size_t at = indexOf(held, file.array);
      if (at == held.plans.size())
        return internalError("the problem has no array '{}'", file.array);
      TILEC_ASSIGN(held.outputs.emplace_back(), readExpected(file, held.plans[at].dtype, held.plans[at].extents));
    }
    problems.insert_or_assign(request.value("name", ""), std::move(held));
    return Json{{"ok", true}};
  }

  Result<Json> release(const Json &request) {
    problems.erase(request.value("name", ""));
    return Json{{"ok", true}};
  }

  static size_t indexOf(const Held &held, std::string_view name) {
    return size_t(std::ranges::find(held.plans, name, &ArrayPlan::name) - held.plans.begin());
  }

  /// Verifies a configuration on the problems of the request, and keeps it for "time" when it is right.
  Result<Json> load(const Json &request) {
    if (!device)
      return internalError("a configuration before hello");
    TILEC_ASSIGN(Artifact artifact, artifactFromJson(request.value("artifact", Json())));
    Json files = request.value("binaries", Json::array());
    if (files.size() != artifact.binaries.size())
      return internalError("a request has {} binaries, its artifact {}", files.size(), artifact.binaries.size());
    for (size_t i = 0; i < files.size(); ++i) {
      TILEC_ASSIGN(artifact.binaries[i], readFile(files[i].get<std::string>()));
    }
    Measurement m;
    m.status = TrialStatus::Ok;
    bool sticky = false;
    if (Judged done = judge(std::move(artifact), request); !done) {
      m = Measurement::failed(done.error().status, done.error().reason);
      sticky = done.error().sticky;
    }
    return trialAnswer(m, sticky);
  }

  Judged judge(Artifact artifact, const Json &request) {
    auto operation = runtime::Operation::load(*device, std::move(artifact));
    if (!operation)
      return verdict(operation.error(), TrialStatus::Refused);
    for (const Json &name : request.value("problems", Json::array())) {
      Held *held = find(name.get<std::string>());
      if (!held)
        continue;
      if (Judged ok = verify(**operation, *held, request.value("golden", false)); !ok) {
        ok.error().reason += fmt::format(" on {}", toString(held->values));
        return ok;
      }
    }
    loaded.insert_or_assign(request.value("id", -1), std::move(*operation));
    return {};
  }

  Result<Json> unload(const Json &request) {
    for (const Json &id : request.value("ids", Json::array()))
      loaded.erase(id.get<int>());
    return Json{{"ok", true}};
  }

  Held *find(const std::string &name) {
    auto it = problems.find(name);
    return it == problems.end() ? nullptr : &it->second;
  }

  /// Puts outputs back to poison and in-place inputs back to what they were.
  Status reset(Held &held) {
    for (size_t i = 0; i < held.plans.size(); ++i) {
      if (held.pristine[i])
        TILEC_TRY(held.arrays[i].upload(*held.pristine[i]));
      else if (held.plans[i].mode != ArrayMode::In)
        TILEC_TRY(held.arrays[i].buffer.fill(runtime::poison));
    }
    return {};
  }

  Judged verify(const runtime::Operation &operation, Held &held, bool makeGolden) {
    if (auto ok = reset(held); !ok)
      return verdict(ok.error(), TrialStatus::Died);
    auto plan = operation.plan(held.arguments(device->facts()));
    if (!plan)
      return verdict(plan.error(), TrialStatus::Refused);
    // Fills go by another stream, and must not come after the kernel.
    if (auto ok = device->synchronize(); !ok)
      return verdict(ok.error(), TrialStatus::Died);
    if (auto ok = plan->enqueue(timer->stream()); !ok)
      return verdict(ok.error(), TrialStatus::Refused);
    if (auto ok = device->synchronize(); !ok)
      return verdict(ok.error(), TrialStatus::Faulted);
    if (Judged ok = guards(held, *plan); !ok)
      return ok;
    auto reports = runtime::readReports(*plan, operation.artifact());
    if (!reports)
      return verdict(reports.error(), TrialStatus::Died);
    if (!reports->failures.empty())
      return std::unexpected(Verdict{TrialStatus::Wrong, reports->failures.front()});
    for (const Expected &expected : held.outputs)
      if (Judged ok = compareOutput(held, expected, makeGolden); !ok)
        return ok;
    return {};
  }

  /// What wrote outside may have hit anything, and the bands stay torn: the worker is done for, as after a fault.
  Judged guards(const Held &held, const runtime::Plan &plan) {
    auto torn = [](const Error &error) {
      auto v = verdict(error, TrialStatus::Wrong);
      v.error().sticky = true;
      return v;
    };
    for (const DeviceArray &a : held.arrays)
      if (auto ok = a.buffer.checkGuards(); !ok)
        return torn(ok.error());
    if (auto ok = plan.checkGuards(); !ok)
      return torn(ok.error());
    return {};
  }

  Judged compareOutput(Held &held, const Expected &expected, bool makeGolden) {
    auto got = held.arrays[indexOf(held, expected.array)].download();
    if (!got)
      return verdict(got.error(), TrialStatus::Died);
    auto why = differences(*got, expected);
    if (!why)
      return verdict(why.error(), TrialStatus::Died);
    if (!why->empty())
      return std::unexpected(Verdict{TrialStatus::Wrong, *why});
    if (expected.full)
      return {};
    if (makeGolden) {
      held.golden.insert_or_assign(expected.array, std::move(*got));
      return {};
    }
    auto golden = held.golden.find(expected.array);
    if (golden == held.golden.end() || golden->second.bytes == got->bytes)
      return {};
    // Both may be off by the bound, to either side.
    Expected whole;
    whole.array = expected.array;
    whole.values = std::move(golden->second);
    whole.bound = {expected.bound.ulp * 2, expected.bound.rel * 2, expected.bound.abs * 2};
    why = differences(*got, whole);
    golden->second = std::move(whole.values);
    if (!why)
      return verdict(why.error(), TrialStatus::Died);
    if (!why->empty())
      return std::unexpected(Verdict{TrialStatus::Wrong, *why + " (against the kernel's own configuration)"});
    return {};
  }

  /// Times configurations that "load" kept, in turns.
  Result<Json> time(const Json &request) {
    Held *held = find(request.value("problem", ""));
    if (!device || !held)
      return internalError("nothing to time: the problem '{}' is not held", request.value("problem", ""));
    TILEC_TRY(reset(*held));
    std::vector<int> ids = request.value("ids", std::vector<int>());
    std::vector<Measurement> results(ids.size());
    std::vector<runtime::Plan> plans;
    std::vector<size_t> racing; ///< the result that each plan belongs to
    bool sticky = false;
    for (size_t i = 0; i < ids.size(); ++i) {
      auto operation = loaded.find(ids[i]);
      if (operation == loaded.end())
        return internalError("configuration {} is not held", ids[i]);
      if (auto plan = operation->second->plan(held->arguments(device->facts()))) {
        plans.push_back(std::move(*plan));
        racing.push_back(i);
      } else {
        auto v = verdict(plan.error(), TrialStatus::Refused).error();
        results[i] = Measurement::failed(v.status, v.reason);
        sticky |= v.sticky;
      }
    }
    if (!sticky)
      TILEC_TRY(device->synchronize());
    if (!sticky)
      sticky = raceOn(*held, plans, racing, request, results);
    Json list = Json::array();
    for (const Measurement &m : results)
      list.push_back(trialAnswer(m, false));
    return Json{{"ok", true}, {"results", std::move(list)}, {"sticky", sticky}};
  }

  /// One run in seconds. What a kernel writes in place is put back before, not between the runs of a graph.
  Result<double> sample(Held &held, const runtime::Plan &plan, runtime::TimingPolicy policy,
                        std::unique_ptr<runtime::RunGraph> &graph) {
    for (size_t i = 0; i < held.copies.size(); ++i)
      TILEC_TRY(held.arrays[held.copied[i]].buffer.copyFrom(held.copies[i].buffer, timer->stream()));
    runtime::Work once = [&](runtime::cu::Stream stream) { return plan.enqueue(stream); };
    if (policy != runtime::TimingPolicy::Graph) {
      TILEC_ASSIGN(double us, timer->sample(once, policy));
      return us * 1e-6;
    }
    if (!graph) {
      TILEC_ASSIGN(double us, timer->sample(once, policy));
      TILEC_ASSIGN(graph, runtime::RunGraph::record(*device, once, runtime::graphRuns(us), timer->stream()));
    }
    TILEC_ASSIGN(double us, timer->sample([&](runtime::cu::Stream stream) { return graph->launch(stream); }, policy));
    return us * 1e-6 / graph->runs();
  }

  /// Fills in the results of the plans; true when the worker is of no further use.
  bool raceOn(Held &held, const std::vector<runtime::Plan> &plans, const std::vector<size_t> &racing,
              const Json &request, std::vector<Measurement> &results) {
    bool cool = request.value("cool", true);
    auto policy = runtime::parseTimingPolicy(request.value("policy", "cold")).value_or(runtime::TimingPolicy::Cold);
    std::vector<Sampler> samplers;
    std::vector<std::unique_ptr<runtime::RunGraph>> graphs(plans.size());
    for (size_t k = 0; k < plans.size(); ++k)
      samplers.push_back(
          [this, &held, &plan = plans[k], &graph = graphs[k], policy] { return sample(held, plan, policy, graph); });
    RaceRules rules;
    rules.minRounds = request.value("min_rounds", rules.minRounds);
    rules.maxRounds = request.value("max_rounds", rules.maxRounds);
    rules.relativeHalfWidth = request.value("relative_half_width", rules.relativeHalfWidth);
    rules.absoluteHalfWidth = request.value("absolute_half_width_seconds", rules.absoluteHalfWidth);
    rules.budgetSeconds = request.value("budget_seconds", rules.budgetSeconds);
    rules.drop = request.value("drop", false);
    RaceTrack track;
    track.clock = [&] { return timer->clockMHz(); };
    if (cool)
      track.idle = [](double seconds) {
        // Idle long enough for power to fall, but never so long that the budget goes into waiting.
        constexpr double idleLengths = 3, longest = 0.02;
        std::this_thread::sleep_for(std::chrono::duration<double>(std::min(idleLengths * seconds, longest)));
      };
    // Verifying and compiling leave the GPU idle: the first candidate is to find it as the last one does. The limit of
    // power that sustained figures are about takes longer to reach.
    constexpr double warmMs = 50, heatMs = 300;
    Status warm = timer->warmClock(cool ? warmMs : heatMs);
    RaceResult raced;
    if (warm)
      raced = race(samplers, rules, track);
    for (size_t i = 0; i < plans.size(); ++i) {
      Measurement &m = results[racing[i]];
      if (!warm || raced.lanes[i].failure) {
        auto v = verdict(warm ? *raced.lanes[i].failure : warm.error(), TrialStatus::Refused).error();
        m = Measurement::failed(v.status, v.reason);
        continue;
      }
      if (raced.broken) {
        m = Measurement::failed(TrialStatus::Died, "another configuration broke the worker");
        continue;
      }
      m.status = TrialStatus::Ok;
      for (double seconds : raced.lanes[i].samples)
        if (seconds > 0)
          m.samples.push_back(seconds);
      m.clocks = {{"mhz", raced.clockMHz}, {"throttled", raced.throttled}, {"cool", cool}};
      if (raced.throttled)
        m.reason = "the GPU lowered its clock while this was timed";
    }
    if (raced.broken || !warm)
      return true;
    // Whose write it was is not known: everyone is tried again alone.
    for (size_t i = 0; i < plans.size(); ++i)
      if (Judged ok = guards(held, plans[i]); !ok) {
        for (size_t r : racing)
          results[r] = Measurement::failed(ok.error().status, ok.error().reason);
        return true;
      }
    return false;
  }

  std::unique_ptr<runtime::Device> device;
  std::unique_ptr<runtime::Timer> timer;
  std::map<std::string, Held> problems;
  std::map<int, std::unique_ptr<runtime::Operation>> loaded; ///< right ones, by the session's number
};

bool writeAll(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    text.remove_prefix(size_t(n));
  }
  return true;
}

} // namespace

int workerMain(int in, int out) {
  // Dies with its parent, and leaves Ctrl-C to it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGINT, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  Worker worker;
  std::string pending;
  for (;;) {
    for (size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
      auto request = parseJson(std::string_view(pending).substr(0, end), "request");
      Json reply = request ? worker.answer(*request) : failureMessage(request.error());
      if (!writeAll(out, toText(reply, -1) + "\n"))
        return 0;
    }
    char buffer[65536];
    ssize_t n = read(in, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return 0;
    pending.append(buffer, size_t(n));
  }
}

} // namespace tilec::tuner
