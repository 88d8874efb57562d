// A parser for JSON, for example for the reports of runs. report.h writes JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "slimgraph/base/result.h"

namespace slimgraph {

class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;  // in the order of the text
  using Any = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string,
                           Array, Object>;

  JsonValue() = default;  // null
  explicit JsonValue(Any any) : any_(std::move(any)) {}

  // The value under a path like "/time/run_s" or "/result/rows/0/value"; null if there is none.
  const JsonValue* Find(std::string_view path) const;
  std::optional<double> NumberAt(std::string_view path) const;
  // False if the value is anything else, or if there is none.
  bool IsTrue(std::string_view path) const;
  // "" if there is no text under the path.
  std::string TextAt(std::string_view path) const;

  std::optional<double> number() const;
  const std::string* text() const { return std::get_if<std::string>(&any_); }
  const Array* array() const { return std::get_if<Array>(&any_); }
  const Object* object() const { return std::get_if<Object>(&any_); }

  // Numbers of different types are unequal.
  friend bool operator==(const JsonValue& a, const JsonValue& b) { return a.any_ == b.any_; }

 private:
  Any any_;
};

// Parses one value with nothing after it. `what` names the text in error messages.
Result<JsonValue> ParseJson(std::string_view text, const std::string& what);

}  // namespace slimgraph
