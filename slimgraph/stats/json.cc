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
