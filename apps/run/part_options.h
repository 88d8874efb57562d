// The options of a part of `slimgraph run`, as in "bfs:source=1,output=depths.txt": the same that
// its own command has.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/command.h"

namespace slimgraph {

class PartOption : public Option {
 public:
  PartOption(std::string_view names, Options::Parse parse, bool is_flag);

  Option& Required() override;
  Option& Default(const std::string& text) override;
  Option& Shown(ShownAs as, std::optional<Report::Value> by_default) override;
  Option& Needs(Option& other) override;
  Option& Excludes(Option& other) override;

  const std::string& name() const { return names_.back(); }  // the longest one, without dashes
  bool is_flag() const { return is_flag_; }
  bool is_given() const { return is_given_; }
  bool IsNamed(std::string_view name) const;
  Status Give(const std::string& text);
  // Whether what is given fits together.
  Status Check(const std::string& part) const;
  std::pair<std::string, std::optional<Report::Value>> ToReport() const;

 private:
  std::vector<std::string> names_;
  Options::Parse parse_;
  bool is_flag_;
  bool is_required_ = false;
  bool is_given_ = false;
  std::string text_;
  ShownAs shown_as_ = ShownAs::kText;
  std::optional<Report::Value> by_default_;
  std::vector<const PartOption*> needed_;
  std::vector<const PartOption*> excluded_;
};

class PartOptions : public Options {
 public:
  void Positional(const char*, const char*, std::string&) override {}
  void Positionals(const char*, const char*, std::vector<std::string>&) override {}
  Option& OptionalPositional(const char* name, const char*, std::string& value) override;
  using Options::Flag;
  Option& Flag(const char* names, const char*, std::function<void()> set) override;
  Option& Value(const char* names, const char*, const char*, Parse parse) override;
  Option& Texts(const char* names, const char*, const char*,
                std::vector<std::string>& values) override;
  void RequireAny(std::vector<Option*> options) override;

  // Reads "source=1,output=x" for the part `name`. A piece between commas that names no option
  // belongs to the value before it, as in "sources=1,2,3".
  Status Parse(const std::string& name, std::string_view text);
  // Under `path`, in `report`.
  void ToReport(const std::string& path, Report& report) const;

 private:
  PartOption* Find(std::string_view name);
  std::string Names() const;

  std::deque<PartOption> options_;
  std::vector<const PartOption*> any_;  // one of these must be given
};

}  // namespace slimgraph
