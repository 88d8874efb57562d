// What a command of `slimgraph` is: its name, what it tells in --help, its options, and its work.
// Commands declare their options here and never meet the library that parses them.
#pragma once

#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "slimgraph/base/result.h"

namespace slimgraph {

// Reads a whole number or a real one; all of `text`, or an error that names it.
template <typename T>
Result<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) {
    constexpr const char* kKind = std::is_floating_point_v<T> ? "number"
                                  : std::is_unsigned_v<T>     ? "whole number from 0 on"
                                                              : "whole number";
    return UsageError("expected a {}, found '{}'", kKind, text);
  }
  return value;
}

// The options of one command. `names` as in "-o,--output". What is declared refers to variables of
// the caller, which stay where they are.
class Options {
 public:
  using Parse = std::function<Status(const std::string&)>;

  virtual ~Options() = default;

  // An argument without a name; all of them are required.
  virtual void Positional(const char* name, const char* help, std::string& value) = 0;
  // One that may be left out, behind those that may not.
  virtual void OptionalPositional(const char* name, const char* help, std::string& value) = 0;
  virtual void Flag(const char* names, const char* help, std::function<void()> set) = 0;
  // `kind` stands for the value in --help: FILE, N, …
  virtual void Value(const char* names, const char* kind, const char* help, Parse parse) = 0;
  // One value or more, up to the next option.
  virtual void Texts(const char* names, const char* kind, const char* help,
                     std::vector<std::string>& values) = 0;

  // The processes of a launcher make one job of this command; of others they would be mere copies.
  void RunsAsJob() { runs_as_job_ = true; }
  bool runs_as_job() const { return runs_as_job_; }

  void Flag(const char* names, const char* help, bool& value) {
    Flag(names, help, [&value] { value = true; });
  }
  void Text(const char* names, const char* kind, const char* help, std::string& value) {
    Value(names, kind, help, [&value](const std::string& text) -> Status {
      value = text;
      return {};
    });
  }
  // T is a number type or an optional one.
  template <typename T>
  void Number(const char* names, const char* kind, const char* help, T& value) {
    Value(names, kind, help, [&value](const std::string& text) -> Status {
      SLIM_ASSIGN(value, ParseNumber<Plain<T>>(text));
      return {};
    });
  }
  // One of the words; `value` becomes the word's place in the list.
  template <typename Enum>
  void Choice(const char* names, const char* help, std::vector<std::string> words, Enum& value) {
    std::string kind;
    for (const std::string& word : words) kind += (kind.empty() ? "" : "|") + word;
    const auto parse = [words = std::move(words), kind, &value](const std::string& text) -> Status {
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] != text) continue;
        value = static_cast<Enum>(i);
        return {};
      }
      return UsageError("expected {}, found '{}'", kind, text);
    };
    Value(names, kind.c_str(), help, parse);
  }

 private:
  template <typename T>
  struct PlainOf {
    using type = T;
  };
  template <typename T>
  struct PlainOf<std::optional<T>> {
    using type = T;
  };
  template <typename T>
  using Plain = typename PlainOf<T>::type;

  bool runs_as_job_ = false;
};

struct Command {
  std::string name;  // "scan", or "bench fabric" for a command of a group
  std::string summary;
  std::function<void(Options&)> declare;
  // After the options have been read; `arguments` is the command line without the program.
  std::function<int(const std::vector<std::string>& arguments)> run;
};

// What stood on the command line, by name, for reports of runs that shall be repeated.
const std::vector<std::pair<std::string, std::string>>& GivenOptions();

// All of them, in the order in which --help tells them.
std::vector<Command> AllCommands();

}  // namespace slimgraph
