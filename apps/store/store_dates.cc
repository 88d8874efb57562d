#include "apps/store/store_dates.h"

#include <array>
#include <cstdio>
#include <ctime>

#include "apps/command.h"

namespace slimgraph {

std::string DateOf(txn::GraphTime time) {
  const std::uint64_t ms = time >> txn::kLogicalBits;
  if (ms == 0) return "";
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     ms % 1000);
}

std::string TimeWithDate(txn::GraphTime time) {
  const std::string date = DateOf(time);
  return date.empty() ? fmt::format("{}", time) : fmt::format("{} ({})", time, date);
}

Result<txn::GraphTime> ParseStoreTime(const std::string& text) {
  if (text.find('-') == std::string::npos) return ParseNumber<txn::GraphTime>(text);
  std::tm parts{};
  std::array<char, 8> fraction{};  // digits of a second
  int end = 0;
  const auto matches = [&](const char* format, auto*... into) {
    end = 0;
    return std::sscanf(text.c_str(), format, into..., &end) == static_cast<int>(sizeof...(into)) &&
           end == static_cast<int>(text.size());
  };
  std::uint64_t length_ms = 1;
  if (matches("%4d-%2d-%2dT%2d:%2d:%2d.%3[0-9]Z%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
              &parts.tm_hour, &parts.tm_min, &parts.tm_sec, fraction.data())) {
  } else if (matches("%4d-%2d-%2dT%2d:%2d:%2dZ%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                     &parts.tm_hour, &parts.tm_min, &parts.tm_sec)) {
    length_ms = 1000;
  } else if (matches("%4d-%2d-%2dT%2d:%2dZ%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                     &parts.tm_hour, &parts.tm_min)) {
    length_ms = 60'000;
  } else {
    return UsageError(
        "expected a time in digits or a date such as 2026-11-24T11:45:03.123Z or "
        "2026-11-24T11:45Z, found '{}'",
        text);
  }
  parts.tm_year -= 1900;
  --parts.tm_mon;
  const std::time_t seconds = ::timegm(&parts);
  if (seconds < 0) return UsageError("{} is before 1970", text);
  std::string digits = fraction.data();
  digits.resize(3, '0');
  SLIM_ASSIGN(const auto first_ms, ParseNumber<std::uint64_t>(digits));
  const std::uint64_t ms = static_cast<std::uint64_t>(seconds) * 1000 + first_ms + length_ms;
  return (ms << txn::kLogicalBits) - 1;
}

}  // namespace slimgraph
