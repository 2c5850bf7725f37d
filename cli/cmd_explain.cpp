#include "cli/commands.h"
#include "compiler/base/diag.h"
#include "compiler/base/text.h"

namespace tilec::cli {
namespace {

class Explain : public Command {
  std::string code;

public:
  void options(std::vector<OptionRow> &rows) override {
    rows.push_back({"CODE", "", "a diagnostic's code, such as E0401; nothing lists them all", &code});
  }

  Result<int> run(Context &context) override {
    if (code.empty()) {
      Table table{{{"code"}, {"kind"}, {"meaning"}}, {}};
      Json all = Json::array();
      for (const DiagInfo &d : allDiags()) {
        const char *kind = d.severity == Severity::Error ? "error" : "warning";
        table.rows.push_back({std::string(d.code), kind, std::string(d.title)});
        all.push_back({{"code", d.code}, {"kind", kind}, {"title", d.title}, {"explanation", d.explanation}});
      }
      context.out.print(context.json ? toText(Json{{"schema", "tilec.codes.1"}, {"codes", all}}) + "\n"
                                     : table.text(context.out));
      return 0;
    }
    const DiagInfo *d = findDiag(code);
    if (!d) {
      std::vector<std::string> codes;
      for (const DiagInfo &each : allDiags())
        codes.emplace_back(each.code);
      return withHelp(usageError("there is no diagnostic '{}'", code),
                      nearest(code, codes).empty() ? "`tilec explain` lists the codes" : suggest(code, codes));
    }
    if (context.json)
      context.out.print(toText(Json{{"schema", "tilec.code.1"},
                                    {"code", d->code},
                                    {"kind", d->severity == Severity::Error ? "error" : "warning"},
                                    {"title", d->title},
                                    {"explanation", d->explanation}}) +
                        "\n");
    else
      context.out.print(
          fmt::format("{}: {}\n\n{}\n", context.out.styled(Style::Bold, d->code), d->title, trim(d->explanation)));
    return 0;
  }
};

} // namespace

std::unique_ptr<Command> makeExplain() { return std::make_unique<Explain>(); }

} // namespace tilec::cli
