#pragma once
// The factories commands.def names.
#include "cli/command.h"

namespace tilec::cli {
#define COMMAND(name, factory, ...) std::unique_ptr<Command> factory();
#include "cli/commands.def"
} // namespace tilec::cli
