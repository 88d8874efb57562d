#include "txnlayer/internal/stages/stages.h"

#include <algorithm>

namespace slimgraph::txn {
namespace {

constexpr std::array<const char*, kNumStages> kStageNames = {
    "read", "lock", "validate", "log", "commit", "release", "renew", "read-at"};

// Which stages of OCC are one-sided in published systems.
struct Division {
  std::string_view name;
  std::array<Stage, 4> one_sided;
  std::size_t count;
  bool asks = false;
};
constexpr std::array kDivisions = {
    // FaRM: reads, validates and logs one-sided; locks and installs by messages.
    Division{"farm", {Stage::kRead, Stage::kValidate, Stage::kLog}, 3},
    // DrTM+R: all of it one-sided.
    Division{"drtm-r", {}, kNumStages},
    // FaSST: messages only.
    Division{"fasst", {}, 0},
    // DrTM+H: one-sided, but a tuple whose location is not cached is read by message. It locks and
    // commits by messages only where adapters' atomics conflict with the processor's. Here they do
    // not: where the two are not atomic with each other, transactions use the adapter at home too.
    Division{"drtm-h", {}, kNumStages, true}};

std::string ListOf(std::span<const Stage> stages) {
  std::string list;
  for (const Stage stage : stages)
    list += (list.empty() ? "" : " ") + std::string(StageName(stage));
  return list;
}

}  // namespace

const char* StageName(Stage stage) { return kStageNames[static_cast<std::size_t>(stage)]; }

StageCode StageCode::All(bool one_sided) {
  StageCode code;
  code.one_sided_.fill(one_sided);
  return code;
}

Result<StageCode> StageCode::Parse(std::string_view text, std::string_view protocol,
                                   std::span<const Stage> stages) {
  if (text == "rpc") return All(false);
  if (text == "one-sided") return All(true);
  for (const Division& division : kDivisions) {
    if (division.name != text) continue;
    if (protocol != "occ") {
      return UsageError("--stages {} is a division of occ, and the protocol is {}", text, protocol);
    }
    StageCode code = All(division.count == kNumStages);
    for (std::size_t i = 0; i < division.count && i < division.one_sided.size(); ++i) {
      code.Set(division.one_sided[i], true);
    }
    code.SetAsks(division.asks);
    return code;
  }
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c == '0' || c == '1'; });
  if (!digits) {
    return UsageError(
        "--stages '{}': expected one digit 0 or 1 for each of {} ({}), or rpc, one-sided, tcp, "
        "farm, drtm-r, fasst, drtm-h",
        text, protocol, ListOf(stages));
  }
  if (text.size() != stages.size()) {
    return UsageError("--stages {} has {} digits, and {} has {} stages: {}", text, text.size(),
                      protocol, stages.size(), ListOf(stages));
  }
  StageCode code;
  for (std::size_t i = 0; i < stages.size(); ++i) code.Set(stages[i], text[i] == '1');
  return code;
}

std::string StageCode::Digits(std::span<const Stage> stages) const {
  std::string digits;
  for (const Stage stage : stages) digits += one_sided(stage) ? '1' : '0';
  return digits;
}

}  // namespace slimgraph::txn
