#include "apps/store/store_indexes.h"

#include <memory>

#include "apps/commands.h"
#include "apps/print.h"
#include "slimgraph/base/split.h"
#include "slimgraph/stats/report.h"
#include "txnlayer/disk/store.h"

namespace slimgraph {

void DeclareIndexes(Options& options, const char* name, std::vector<txn::PropertyIndex>& indexes) {
  options
      .Value(name, "NAME=OFFSET:TYPE,...",
             "indexes of the vertices by parts of their properties, by which programs find them: "
             "age=0:u32 is one by the number of 4 bytes with which the properties begin; types "
             "are u8, u16, u32, u64, i8, i16, i32, i64, f32, f64",
             [&indexes](const std::string& text) -> Status {
               for (const std::string_view one : Split(text)) {
                 SLIM_ASSIGN(indexes.emplace_back(), txn::PropertyIndex::Parse(std::string(one)));
               }
               return {};
             })
      .Default("none");
}

std::string IndexesInWords(const std::vector<txn::PropertyIndex>& indexes) {
  std::string text;
  for (const txn::PropertyIndex& index : indexes) {
    text += (text.empty() ? "indexes " : ", ") + index.ToText();
  }
  return text.empty() ? "no indexes" : text;
}

namespace {

struct IndexState {
  std::string store;
  std::vector<txn::PropertyIndex> added;
  std::string dropped;
  bool json = false;
};

// The indexes that the store has then.
Result<std::vector<txn::PropertyIndex>> ChangeIndexes(const IndexState& state) {
  const bool changes = !state.added.empty() || !state.dropped.empty();
  using Use = txn::Store::Use;
  SLIM_ASSIGN(txn::Store store, txn::Store::Open(state.store, changes ? Use::kWrite : Use::kRead));
  std::vector<txn::PropertyIndex> indexes = store.indexes();
  for (const std::string_view name : Split(state.dropped)) {
    const auto same = [&](const txn::PropertyIndex& index) { return index.name == name; };
    if (std::erase_if(indexes, same) == 0) {
      return InputError("{}: it has no index {}: it has {}", state.store, name,
                        IndexesInWords(store.indexes()));
    }
  }
  indexes.insert(indexes.end(), state.added.begin(), state.added.end());
  if (changes) SLIM_TRY(store.SetIndexes(indexes));
  return indexes;
}

}  // namespace

Command StoreIndexCommand() {
  const auto state = std::make_shared<IndexState>();
  const auto declare = [state](Options& options) {
    options.Positional("STORE", "the store", state->store);
    DeclareIndexes(options, "--add", state->added);
    options.Text("--drop", "NAME,...", "indexes that the store no longer needs", state->dropped)
        .Default("none");
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) {
    const auto indexes = ChangeIndexes(*state);
    if (!indexes) return PrintError(indexes.error());
    if (!state->json) {
      return Print(fmt::format("{}: {}\n", state->store, IndexesInWords(*indexes)));
    }
    Report report("store index");
    report.Set("/result/count", std::uint64_t{indexes->size()});
    for (std::size_t i = 0; i < indexes->size(); ++i) {
      report.Set(fmt::format("/result/indexes/{}", i), (*indexes)[i].ToText());
    }
    SetOptions(report);
    return Print(ToJson(report) + "\n");
  };
  return {"store index", "list, add or drop the indexes of a store's vertices", declare, run};
}

}  // namespace slimgraph
