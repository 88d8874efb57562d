// The stages of a transaction, and the stage code, which says for each stage whether it is
// two-sided or one-sided. Two-sided means a message to the tuple's home, whose processor does the
// work. One-sided means operations on the home's memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "slimgraph/base/result.h"

namespace slimgraph::txn {

// kReadAt: the reads of a read-only transaction at its time (read_at.h). It has no digit of its
// own.
enum class Stage : std::uint8_t {
  kRead,
  kLock,
  kValidate,
  kLog,
  kCommit,
  kRelease,
  kRenew,
  kReadAt
};
constexpr std::size_t kNumStages = 8;
const char* StageName(Stage stage);

class StageCode {
 public:
  // `text` has one digit for each stage of `stages`: 0 two-sided, 1 one-sided. Or it is "rpc" or
  // "one-sided", or, for OCC, the division of a published system: "farm", "drtm-r", "fasst",
  // "drtm-h", which also asks for tuples.
  static Result<StageCode> Parse(std::string_view text, std::string_view protocol,
                                 std::span<const Stage> stages);
  static StageCode All(bool one_sided);

  bool one_sided(Stage stage) const { return one_sided_[static_cast<std::size_t>(stage)]; }
  void Set(Stage stage, bool one_sided) { one_sided_[static_cast<std::size_t>(stage)] = one_sided; }

  // Whether a tuple whose location is not known is read by message where others are read one-sided.
  // Its home also tells the location.
  bool asks() const { return asks_; }
  void SetAsks(bool asks) { asks_ = asks; }

  bool operator==(const StageCode&) const = default;

  // One digit for each of the stages.
  std::string Digits(std::span<const Stage> stages) const;

 private:
  std::array<bool, kNumStages> one_sided_{};
  bool asks_ = false;
};

}  // namespace slimgraph::txn
