#include "slimgraph/stats/json_value.h"

#include <charconv>

namespace slimgraph {

const JsonValue* JsonValue::Find(std::string_view path) const {
  const JsonValue* at = this;
  while (!path.empty() && at != nullptr) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(end);
    const JsonValue* next = nullptr;
    if (const Object* const object = at->object()) {
      for (const auto& [key, value] : *object) {
        if (key == name) next = &value;
      }
    } else if (const Array* const array = at->array()) {
      std::size_t place = array->size();
      std::from_chars(name.data(), name.data() + name.size(), place);
      if (place < array->size()) next = &(*array)[place];
    }
    at = next;
  }
  return at;
}

std::optional<double> JsonValue::number() const {
  if (const auto* const value = std::get_if<double>(&any_)) return *value;
  if (const auto* const value = std::get_if<std::int64_t>(&any_)) {
    return static_cast<double>(*value);
  }
  if (const auto* const value = std::get_if<std::uint64_t>(&any_)) {
    return static_cast<double>(*value);
  }
  return std::nullopt;
}

std::optional<double> JsonValue::NumberAt(std::string_view path) const {
  const JsonValue* const found = Find(path);
  return found == nullptr ? std::nullopt : found->number();
}

bool JsonValue::IsTrue(std::string_view path) const {
  const JsonValue* const found = Find(path);
  return found != nullptr && *found == JsonValue(Any(true));
}

std::string JsonValue::TextAt(std::string_view path) const {
  const JsonValue* const found = Find(path);
  return found == nullptr || found->text() == nullptr ? "" : *found->text();
}

}  // namespace slimgraph
