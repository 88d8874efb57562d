// A command that shows what a pool tells about itself, in words or, with --json, as an object.
#pragma once

#include <memory>
#include <string>

#include "apps/command.h"
#include "apps/job/job_runner.h"
#include "slimgraph/pool/pool.h"

namespace slimgraph {

inline Command ViewCommand(const char* name, const char* summary,
                           int (*print)(const PoolView& view, bool json)) {
  struct State {
    std::string pool;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("NAME", "the pool", state->pool);
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state, print](const std::vector<std::string>&) {
    const auto view = ViewPool(state->pool);
    return view ? print(*view, state->json) : PrintError(view.error());
  };
  return {name, summary, declare, run};
}

}  // namespace slimgraph
