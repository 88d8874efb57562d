// `slimgraph pool share|add|forget`.
#include <span>

#include "apps/commands.h"
#include "apps/job/job_runner.h"
#include "apps/print.h"
#include "slimgraph/base/atomic_file.h"
#include "slimgraph/pool/sharing.h"

namespace slimgraph {
namespace {

Status WritePrivate(const std::string& path, const std::string& text) {
  SLIM_ASSIGN(AtomicFile file, AtomicFile::Create(path, 0600));
  SLIM_TRY(file.WriteAt(0, std::as_bytes(std::span(text))));
  return file.Commit();
}

}  // namespace

Command PoolShareCommand() {
  struct State {
    std::string name;
    std::string file;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("NAME", "the pool", state->name);
    options.Positional("FILE",
                       "the file to write, which only you can read: give it to those who shall "
                       "run jobs; -: standard output",
                       state->file);
  };
  const auto run = [state](const std::vector<std::string>&) {
    const auto text = DescriptorForReaders(state->name);
    if (!text) return PrintError(text.error());
    if (state->file == "-") return Print(*text);
    const Status written = WritePrivate(state->file, *text);
    return written ? 0 : PrintError(written.error());
  };
  return {"pool share", "let others run jobs on a pool, but not load, drop or stop", declare, run};
}

Command PoolAddCommand() {
  struct State {
    std::string file;
    std::string name;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("FILE", "the descriptor: what 'pool share' has written, or a copy of one",
                       state->file);
    options.Text("--as", "NAME", "the pool's name here", state->name)
        .Default("its name where it was started");
  };
  const auto run = [state](const std::vector<std::string>&) {
    const auto pool = AddPool(state->file, state->name);
    if (!pool) return PrintError(pool.error());
    return Print(fmt::format("pool {}{}\n", pool->name, pool->read_only ? ": for reading" : ""));
  };
  return {"pool add", "use a pool that somebody else has started, or you on another host", declare,
          run};
}

Command PoolForgetCommand() {
  const auto name = std::make_shared<std::string>();
  const auto declare = [name](Options& options) { options.Positional("NAME", "the pool", *name); };
  const auto run = [name](const std::vector<std::string>&) {
    const Status forgotten = ForgetPool(*name);
    return forgotten ? 0 : PrintError(forgotten.error());
  };
  return {"pool forget", "forget a pool that somebody has shared with you", declare, run};
}

}  // namespace slimgraph
