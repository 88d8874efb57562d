// The only file that includes the JSON library.
#include <nlohmann/json.hpp>

#include "slimgraph/stats/json_value.h"
#include "slimgraph/stats/report.h"
#include "slimgraph/stats/trace.h"

namespace slimgraph {

using Json = nlohmann::ordered_json;

namespace {

JsonValue FromJson(const Json& json) {
  using Any = JsonValue::Any;
  switch (json.type()) {
    case Json::value_t::boolean:
      return JsonValue(Any(json.get<bool>()));
    case Json::value_t::number_integer:
      return JsonValue(Any(json.get<std::int64_t>()));
    case Json::value_t::number_unsigned:
      return JsonValue(Any(json.get<std::uint64_t>()));
    case Json::value_t::number_float:
      return JsonValue(Any(json.get<double>()));
    case Json::value_t::string:
      return JsonValue(Any(json.get<std::string>()));
    case Json::value_t::array: {
      JsonValue::Array array;
      for (const Json& one : json) array.push_back(FromJson(one));
      return JsonValue(Any(std::move(array)));
    }
    case Json::value_t::object: {
      JsonValue::Object object;
      for (const auto& [key, value] : json.items()) object.emplace_back(key, FromJson(value));
      return JsonValue(Any(std::move(object)));
    }
    default:
      return JsonValue();
  }
}

// The digits of an integer that a double cannot hold exactly; null for all other values.
Json DigitsOf(const Report::Value& value) {
  constexpr std::uint64_t kMostExact = std::uint64_t{1} << 53;
  if (const auto* const number = std::get_if<std::uint64_t>(&value)) {
    return *number > kMostExact ? Json(std::to_string(*number)) : Json();
  }
  if (const auto* const number = std::get_if<std::int64_t>(&value)) {
    const bool exact = *number >= -static_cast<std::int64_t>(kMostExact) &&
                       *number <= static_cast<std::int64_t>(kMostExact);
    return exact ? Json() : Json(std::to_string(*number));
  }
  if (const auto* const list = std::get_if<std::vector<std::uint64_t>>(&value)) {
    Json digits = Json::array();
    bool exact = true;
    for (const std::uint64_t number : *list) {
      exact &= number <= kMostExact;
      digits.push_back(std::to_string(number));
    }
    return exact ? Json() : digits;
  }
  return Json();
}

}  // namespace

Result<JsonValue> ParseJson(std::string_view text, const std::string& what) {
  try {
    return FromJson(Json::parse(text));
  } catch (const Json::parse_error& wrong) {
    return InputError("{} is not JSON: the fault is at byte {}", what, wrong.byte);
  }
}

std::string ToJson(const Report& report) {
  Json json;
  for (const auto& [path, value] : report.values()) {
    Json& place = json[Json::json_pointer(path)];
    std::visit([&](const auto& one) { place = one; }, value);
    const bool in_array = path.back() >= '0' && path.back() <= '9' &&
                          path.find_last_not_of("0123456789") == path.rfind('/');
    if (Json digits = DigitsOf(value); !digits.is_null() && !in_array) {
      json[Json::json_pointer(path + "_text")] = std::move(digits);
    }
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The format that chrome://tracing and Perfetto read: one process per node, one row per thread.
std::string ToChromeTrace(const std::vector<TraceEvent>& events) {
  Json list = Json::array();
  for (const TraceEvent& event : events) {
    list.push_back({{"name", event.name},
                    {"ph", "X"},
                    {"pid", event.node},
                    {"tid", event.thread},
                    {"ts", static_cast<double>(event.start_ns) * 1e-3},
                    {"dur", static_cast<double>(event.duration_ns) * 1e-3}});
  }
  NameRows(events, [&](NodeId node, std::uint32_t thread, const std::string& name) {
    const bool of_node = thread == kWholeNode;
    list.push_back({{"name", of_node ? "process_name" : "thread_name"},
                    {"ph", "M"},
                    {"pid", node},
                    {"tid", of_node ? 0 : thread},
                    {"args", {{"name", name}}}});
  });
  return Json{{"traceEvents", list}, {"displayTimeUnit", "ms"}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace slimgraph
