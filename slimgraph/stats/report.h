// The results of a run: values under paths such as /time/run_s, which become one JSON object. All
// commands use the same structure. Paths may be added; within a schema version they are never
// renamed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace slimgraph {

class Report {
 public:
  static constexpr int kSchema = 1;
  using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string,
                             std::vector<std::uint64_t>, std::vector<double>>;

  explicit Report(std::string_view command);

  // Sets or replaces the value under `path`.
  void Set(std::string_view path, Value value);

  const std::vector<std::pair<std::string, Value>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string, Value>> values_;
};

// One line of JSON.
std::string ToJson(const Report& report);

}  // namespace slimgraph
