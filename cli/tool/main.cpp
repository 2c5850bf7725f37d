#include "cli/command.h"
#include <csignal>

int main(int argc, char **argv) {
  // A reader that closes its pipe ends output, not the tool: writes report it.
  std::signal(SIGPIPE, SIG_IGN);
  // A limit on file sizes is a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  return tilec::cli::runTool({argv + 1, argv + argc});
}
