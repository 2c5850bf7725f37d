// The worker: owns the CUDA context, holds the buffers of problems, verifies and times artifacts. It trusts its parent
// and nothing that a kernel does.
#include "tuner/worker.h"
#include "compiler/base/files.h"
#include "runtime/launch.h"
#include "runtime/timing.h"
#include "tuner/protocol.h"
#include <cerrno>
#include <csignal>
#include <sys/prctl.h>
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
                         : op == "trial"   ? trial(request)
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
        if (plan.mode == ArrayMode::InOut)
          keep = std::move(host);
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

  Result<Json> trial(const Json &request) {
    if (!device)
      return internalError("a trial before hello");
    TILEC_ASSIGN(Artifact artifact, artifactFromJson(request.value("artifact", Json())));
    Json files = request.value("binaries", Json::array());
    if (files.size() != artifact.binaries.size())
      return internalError("a trial has {} binaries, its artifact {}", files.size(), artifact.binaries.size());
    for (size_t i = 0; i < files.size(); ++i) {
      TILEC_ASSIGN(artifact.binaries[i], readFile(files[i].get<std::string>()));
    }
    Measurement m;
    bool sticky = false;
    if (Judged done = judge(std::move(artifact), request, m); !done) {
      m = Measurement::failed(done.error().status, done.error().reason);
      sticky = done.error().sticky;
    }
    return trialAnswer(m, sticky);
  }

  Judged judge(Artifact artifact, const Json &request, Measurement &m) {
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
    m.status = TrialStatus::Ok;
    if (Held *timed = find(request.value("timed", "")))
      return time(**operation, *timed, request, m);
    m.samples = {1}; // a trial that is only verified has a time that nobody reads
    return {};
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
    if (auto ok = plan->enqueue(timer->stream()); !ok)
      return verdict(ok.error(), TrialStatus::Refused);
    if (auto ok = device->synchronize(); !ok)
      return verdict(ok.error(), TrialStatus::Faulted);
    if (Judged ok = guards(held, *plan); !ok)
      return ok;
    for (const Expected &expected : held.outputs)
      if (Judged ok = compareOutput(held, expected, makeGolden); !ok)
        return ok;
    return {};
  }

  Judged guards(const Held &held, const runtime::Plan &plan) {
    for (const DeviceArray &a : held.arrays)
      if (auto ok = a.buffer.checkGuards(); !ok)
        return verdict(ok.error(), TrialStatus::Wrong);
    if (auto ok = plan.checkGuards(); !ok)
      return verdict(ok.error(), TrialStatus::Wrong);
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

  Judged time(const runtime::Operation &operation, Held &held, const Json &request, Measurement &m) {
    if (auto ok = reset(held); !ok)
      return verdict(ok.error(), TrialStatus::Died);
    auto plan = operation.plan(held.arguments(device->facts()));
    if (!plan)
      return verdict(plan.error(), TrialStatus::Refused);
    runtime::TimingOptions options;
    options.budgetSeconds = request.value("budget_seconds", 0.5);
    options.minSamples = 15;
    options.maxSamples = 100;
    auto timing = timer->time([&](runtime::cu::Stream stream) { return plan->enqueue(stream); }, options);
    if (!timing)
      return verdict(timing.error(), TrialStatus::NoTime);
    if (Judged ok = guards(held, *plan); !ok)
      return ok;
    for (double us : timing->samples)
      if (us > 0)
        m.samples.push_back(us * 1e-6);
    m.clocks = {{"mhz", timing->clockMHz}, {"throttled", timing->throttled}, {"cool", timing->cool}};
    if (timing->throttled)
      m.reason = "the GPU lowered its clock while this was timed";
    return {};
  }

  std::unique_ptr<runtime::Device> device;
  std::unique_ptr<runtime::Timer> timer;
  std::map<std::string, Held> problems;
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
      if (!writeAll(out, reply.dump() + "\n"))
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
