#include "cli/commands.h"
#include "compiler/base/env.h"
#include "compiler/base/files.h"
#include "compiler/base/text.h"
#include "compiler/driver/driver.h"
#include "runtime/device.h"
#include <thread>

namespace tilec::cli {
namespace {

/// A fact that was found, or why it was not and what to do.
struct Finding {
  std::string label, value, missing, help;
};

class Info : public Command {
public:
  void options(std::vector<OptionRow> &) override {}

  Result<int> run(Context &context) override {
    std::vector<Finding> findings;
    findings.push_back({"tilec", std::string(driver::toolVersion()), "", ""});
    findings.push_back({"LLVM", "22.1, built in", "", ""});
    auto assembler = driver::assemblerVersion();
    findings.push_back({"assembler", assembler ? *assembler : "", assembler ? "" : assembler.error().message,
                        assembler ? "" : assembler.error().help});
    auto devices = runtime::listDevices();
    if (!devices)
      findings.push_back({"GPU", "", devices.error().message, devices.error().help});
    else
      for (const runtime::DeviceFacts &d : *devices)
        findings.push_back({fmt::format("cuda:{}", d.ordinal),
                            fmt::format("{}, {}, {} SMs, {} MiB of L2, {:.0f} GiB, driver {}.{}", d.name, d.arch(),
                                        d.multiprocessors, d.l2Bytes >> 20, double(d.memoryBytes) / (1 << 30),
                                        d.driverVersion / 1000, d.driverVersion % 1000 / 10),
                            "", ""});
    findings.push_back({"cores", fmt::format("{}", std::thread::hardware_concurrency()), "", ""});
    findings.push_back({"cache", (cacheDir() / "tilec.db").string(), "", ""});
    std::vector<std::string> archs;
    for (const Arch &a : allArchs())
      archs.emplace_back(a.name);
    findings.push_back({"architectures", join(archs, " "), "", ""});
    for (const EnvInfo &e : allEnv())
      if (auto value = envText(e.variable); value && e.name.starts_with("TILEC_"))
        findings.push_back({std::string(e.name), *value, "", ""});

    if (context.json) {
      Json json{{"schema", "tilec.info.1"}, {"version", driver::toolVersion()}};
      json["assembler"] = assembler ? Json(*assembler) : Json(nullptr);
      json["devices"] = Json::array();
      if (devices)
        for (const runtime::DeviceFacts &d : *devices) {
          Json j = runtime::toJson(d);
          j["arch"] = d.arch();
          json["devices"].push_back(j);
        }
      json["cache"] = (cacheDir() / "tilec.db").string();
      json["architectures"] = archs;
      context.out.print(toText(json) + "\n");
      return 0;
    }
    for (const Finding &f : findings) {
      std::string label = f.label + std::string(f.label.size() < 15 ? 15 - f.label.size() : 1, ' ');
      if (f.missing.empty()) {
        context.out.print(label + f.value + "\n");
        continue;
      }
      context.out.print(label + context.out.styled(Style::Yellow, "missing: ") + f.missing + "\n");
      if (!f.help.empty())
        context.out.print(std::string(15, ' ') + f.help + "\n");
    }
    return 0;
  }
};

} // namespace

std::unique_ptr<Command> makeInfo() { return std::make_unique<Info>(); }

} // namespace tilec::cli
