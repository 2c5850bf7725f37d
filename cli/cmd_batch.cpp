// `tilec __batch`: commands one after another in one process, for tests: a CUDA context takes longer than most of them.
// A line of standard input is a JSON list of arguments, its answer a line {"code": …, "out": …, "err": …}.
#include "cli/commands.h"
#include "compiler/base/json.h"
#include "runtime/device.h"
#include <cstdio>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace tilec::cli {
namespace {

/// Sends a stream of this process to memory while it lives.
class Capture {
public:
  explicit Capture(int stream) : stream(stream), kept(dup(stream)), memory(memfd_create("stream", MFD_CLOEXEC)) {
    dup2(memory, stream);
  }
  ~Capture() {
    restore();
    close(memory);
  }
  Capture(const Capture &) = delete;

  std::string text() {
    restore();
    std::string result(size_t(lseek(memory, 0, SEEK_END)), '\0');
    ssize_t count = pread(memory, result.data(), result.size(), 0);
    result.resize(size_t(std::max<ssize_t>(count, 0)));
    return result;
  }

private:
  void restore() {
    std::fflush(stream == STDOUT_FILENO ? stdout : stderr);
    if (kept >= 0) {
      dup2(kept, stream);
      close(std::exchange(kept, -1));
    }
  }
  int stream, kept, memory;
};

class Batch : public Command {
public:
  void options(std::vector<OptionRow> &) override {}

  Result<int> run(Context &) override {
    // Held so that the context outlives the commands; without a GPU there is none to hold.
    auto device = runtime::Device::open(0);
    char *line = nullptr;
    size_t capacity = 0;
    for (ssize_t length; (length = getline(&line, &capacity, stdin)) > 0;) {
      Json request = Json::parse(line, line + length, nullptr, /*allow_exceptions=*/false);
      if (!request.is_array())
        return usageError("a line is a JSON list of arguments");
      std::vector<std::string> arguments;
      for (const Json &word : request)
        arguments.push_back(word.is_string() ? word.get<std::string>() : word.dump());
      Json answer;
      {
        Capture out(STDOUT_FILENO), err(STDERR_FILENO);
        answer["code"] = runTool(arguments);
        answer["out"] = out.text();
        answer["err"] = err.text();
      }
      std::string text = answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
      for (std::string_view rest = text; !rest.empty();) {
        ssize_t count = write(STDOUT_FILENO, rest.data(), rest.size());
        if (count <= 0)
          return usageError("standard output could not be written");
        rest.remove_prefix(size_t(count));
      }
    }
    free(line);
    return 0;
  }
};

} // namespace

std::unique_ptr<Command> makeBatch() { return std::make_unique<Batch>(); }

} // namespace tilec::cli
