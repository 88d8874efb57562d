// A command of `slimgraph`: its name, its summary for --help, its options, and its work. Commands
// declare options through these classes and do not depend on the library that parses them.
#pragma once

#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/units.h"
#include "slimgraph/stats/report.h"

namespace slimgraph {

// Parses all of `text` as an integer or as a floating-point number.
template <typename T>
Result<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) {
    constexpr const char* kKind = std::is_floating_point_v<T> ? "number"
                                  : std::is_unsigned_v<T>     ? "whole number of at least 0"
                                                              : "whole number";
    return UsageError("expected a {}, found '{}'", kKind, text);
  }
  return value;
}

// How a report shows the value of an option: as the text that was given, or as a number; kBytes:
// the text is a number of bytes such as 64K.
enum class ShownAs { kText, kNumber, kBytes };

// The value of an option as a report shows it.
Report::Value ShownValue(ShownAs as, const std::string& text);

// A declared option. These functions add rules to it; --help prints them with its description.
class Option {
 public:
  virtual ~Option() = default;

  virtual Option& Required() = 0;
  // What --help shows as the default: a value, or words. Replaces an earlier text.
  virtual Option& Default(const std::string& text) = 0;
  // How reports show the option's value, and what they show if the option is not given; nullopt:
  // then they leave it out.
  virtual Option& Shown(ShownAs as, std::optional<Report::Value> by_default) = 0;
  // The option is accepted only together with `other`.
  virtual Option& Needs(Option& other) = 0;
  virtual Option& Excludes(Option& other) = 0;
};

// The options of one command. `names` is like "-o,--output". Declarations keep references to the
// caller's variables, which must outlive the parsing. The variables' values at declaration are the
// defaults that --help shows. An optional number or an empty text has no such default; its
// declaration gives one in words, by Default().
class Options {
 public:
  using Parse = std::function<Status(const std::string&)>;

  virtual ~Options() = default;

  // A required argument without a name.
  virtual void Positional(const char* name, const char* help, std::string& value) = 0;
  // One or more arguments without a name, after all others.
  virtual void Positionals(const char* name, const char* help,
                           std::vector<std::string>& values) = 0;
  // An optional argument without a name. It follows all required ones.
  virtual Option& OptionalPositional(const char* name, const char* help, std::string& value) = 0;
  virtual Option& Flag(const char* names, const char* help, std::function<void()> set) = 0;
  // `kind` stands for the value in --help: FILE, N, …
  virtual Option& Value(const char* names, const char* kind, const char* help, Parse parse) = 0;
  // An option with one or more values, up to the next option.
  virtual Option& Texts(const char* names, const char* kind, const char* help,
                        std::vector<std::string>& values) = 0;
  // At least one of these options must be given. A command has at most one such rule.
  virtual void RequireAny(std::vector<Option*> options) = 0;
  // Exactly one of the two must be given.
  void RequireOne(Option& one, Option& other) {
    RequireAny({&one, &other});
    one.Excludes(other);
  }

  // Under a launcher, all processes form one job that runs this command. Commands without this
  // property would run as independent copies, so a launcher with several processes is an error.
  void RunsAsJob() { runs_as_job_ = true; }
  bool runs_as_job() const { return runs_as_job_; }
  // Each process of a launcher runs the command by itself.
  void RunsAsCopies() { runs_as_copies_ = true; }
  bool runs_as_copies() const { return runs_as_copies_; }

  Option& Flag(const char* names, const char* help, bool& value) {
    return Flag(names, help, [&value] { value = true; });
  }
  // A number of bytes, or one with K, M, G or T.
  Option& Bytes(const char* names, const char* help, std::uint64_t& value) {
    const auto parse = [&value](const std::string& text) -> Status {
      SLIM_ASSIGN(value, ParseBytes(text));
      return {};
    };
    return Value(names, "BYTES", help, parse)
        .Default(FormatBytes(value))
        .Shown(ShownAs::kBytes, Report::Value(value));
  }
  Option& Text(const char* names, const char* kind, const char* help, std::string& value) {
    const auto parse = [&value](const std::string& text) -> Status {
      value = text;
      return {};
    };
    return Value(names, kind, help, parse)
        .Default(value)
        .Shown(ShownAs::kText, value.empty() ? std::nullopt : std::optional<Report::Value>(value));
  }
  // T is a number type, or std::optional of one.
  template <typename T>
  Option& Number(const char* names, const char* kind, const char* help, T& value) {
    Option& option = Value(names, kind, help, [&value](const std::string& text) -> Status {
      SLIM_ASSIGN(value, ParseNumber<ValueType<T>>(text));
      return {};
    });
    if constexpr (std::is_same_v<T, ValueType<T>>) {
      option.Default(fmt::format("{}", value)).Shown(ShownAs::kNumber, NumberOf(value));
    } else {
      option.Shown(ShownAs::kNumber, std::nullopt);
    }
    return option;
  }
  // A number from `low` to `high`.
  template <typename T>
  Option& Number(const char* names, const char* kind, const char* help, T& value,
                 std::type_identity_t<T> low, std::type_identity_t<T> high) {
    const auto parse = [&value, low, high](const std::string& text) -> Status {
      SLIM_ASSIGN(value, ParseNumber<T>(text));
      if (value >= low && value <= high) return {};
      return UsageError("{} is out of range: {}..{}", text, low, high);
    };
    return Value(names, kind, help, parse)
        .Default(fmt::format("{}", value))
        .Shown(ShownAs::kNumber, NumberOf(value));
  }
  // One of `words`; `value` becomes the index of the chosen word.
  template <typename Enum>
  Option& Choice(const char* names, const char* help, std::vector<std::string> words, Enum& value) {
    std::string kind;
    for (const std::string& word : words) kind += (kind.empty() ? "" : "|") + word;
    const std::string usual = words[static_cast<std::size_t>(value)];
    const auto parse = [words = std::move(words), kind, &value](const std::string& text) -> Status {
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] != text) continue;
        value = static_cast<Enum>(i);
        return {};
      }
      return UsageError("expected {}, found '{}'", kind, text);
    };
    return Value(names, kind.c_str(), help, parse).Default(usual).Shown(ShownAs::kText, usual);
  }

 private:
  template <typename T>
  static Report::Value NumberOf(T value) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<double>(value);
    if constexpr (std::is_unsigned_v<T>) return static_cast<std::uint64_t>(value);
    return static_cast<std::int64_t>(value);
  }
  template <typename T>
  struct ValueTypeOf {
    using type = T;
  };
  template <typename T>
  struct ValueTypeOf<std::optional<T>> {
    using type = T;
  };
  template <typename T>
  using ValueType = typename ValueTypeOf<T>::type;

  bool runs_as_job_ = false;
  bool runs_as_copies_ = false;
};

class Part;  // part.h

struct Command {
  std::string name;  // "scan", or "bench fabric" for a command of a group
  std::string summary;
  std::function<void(Options&)> declare;
  // Called after the options have been parsed. `arguments` is the command line without the program.
  std::function<int(const std::vector<std::string>& arguments)> run;
  // Other names by which users look for the command. Its summary contains their words, too.
  std::vector<std::string> aliases = {};
  // Makes what `slimgraph run` does for this command; null if it cannot be done there.
  std::function<std::unique_ptr<Part>()> make_part = {};
};

// The command that runs. So errors and reports can name it.
struct Invocation {
  std::string command;  // "" before it is known
  bool json = false;    // --json is given
  // All options of the command as (name, value), with defaults, in the order of --help.
  std::vector<std::pair<std::string, Report::Value>> options;
  std::vector<std::string> given;  // the names of those that the user has given
};
const Invocation& TheInvocation();

}  // namespace slimgraph
