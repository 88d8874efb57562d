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
  // Since 2, options have their types, all options are there, and /given names those that the user
  // has given. In 1, /options has the given ones alone, as texts.
  static constexpr int kSchema = 2;
  using Value =
      std::variant<bool, std::int64_t, std::uint64_t, double, std::string,
                   std::vector<std::uint64_t>, std::vector<double>, std::vector<std::string>>;

  explicit Report(std::string_view command);

  // Sets or replaces the value under `path`.
  void Set(std::string_view path, Value value);

  const std::vector<std::pair<std::string, Value>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string, Value>> values_;
};

// One line of JSON. Beside an integer NAME beyond 2^53, which many programs round, is NAME_text:
// its digits as a string.
std::string ToJson(const Report& report);

}  // namespace slimgraph
