// The tool's own tables as JSON: what the generated pages of docs/ are made from.
#include "cli/commands.h"
#include "compiler/base/env.h"
#include "compiler/base/json.h"
#include "compiler/base/text.h"
#include "compiler/sema/builtins.h"
#include "compiler/target/target.h"

namespace tilec::cli {
namespace {

class Tables : public Command {
public:
  void options(std::vector<OptionRow> &) override {}

  Result<int> run(Context &context) override {
    Json json{{"schema", "tilec.tables.1"}};
    json["commands"] = Json::array();
    for (const CommandInfo &c : allCommands())
      if (!c.hidden)
        json["commands"].push_back(c.name);
    json["environment"] = Json::array();
    for (const EnvInfo &e : allEnv())
      json["environment"].push_back({{"name", e.name}, {"doc", e.doc}});
    json["builtins"] = Json::array();
    for (const sema::BuiltinInfo &b : sema::allBuiltins())
      json["builtins"].push_back(
          {{"name", b.name}, {"receiver", sema::receiverName(b.receiver)}, {"signature", b.signature}, {"doc", b.doc}});
    json["hints"] = Json::array();
    for (const HintInfo &h : allHints()) {
      std::vector<std::string> places;
      for (auto [place, text] :
           {std::pair{HintPlace::Kernel, "kernel"}, {HintPlace::Load, "load"}, {HintPlace::Store, "store"}})
        if (h.allowedOn(place))
          places.emplace_back(text);
      json["hints"].push_back({{"name", h.name},
                               {"where", join(places, ", ") + (h.viewsOnly ? " of a view" : "")},
                               {"values", legalText(h, nullptr)},
                               {"doc", h.doc}});
    }
    json["architectures"] = Json::array();
    for (const Arch &a : allArchs())
      json["architectures"].push_back({{"name", a.name},
                                       {"compiledAs", a.compiledAs},
                                       {"sharedPerBlock", a.sharedPerBlock},
                                       {"maxCluster", a.maxCluster}});
    context.out.print(toText(json) + "\n");
    return 0;
  }
};

} // namespace

std::unique_ptr<Command> makeTables() { return std::make_unique<Tables>(); }

} // namespace tilec::cli
