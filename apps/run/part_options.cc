#include "apps/run/part_options.h"

#include <algorithm>

#include "slimgraph/base/split.h"

namespace slimgraph {

PartOption::PartOption(std::string_view names, Options::Parse parse, bool is_flag)
    : parse_(std::move(parse)), is_flag_(is_flag) {
  for (std::string_view name : Split(names)) {
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    names_.emplace_back(name);
  }
  if (is_flag) by_default_.emplace(false);
}

Option& PartOption::Required() {
  is_required_ = true;
  return *this;
}
Option& PartOption::Default(const std::string&) { return *this; }
Option& PartOption::Shown(ShownAs as, std::optional<Report::Value> by_default) {
  shown_as_ = as;
  by_default_ = std::move(by_default);
  return *this;
}
Option& PartOption::Needs(Option& other) {
  needed_.push_back(static_cast<PartOption*>(&other));
  return *this;
}
Option& PartOption::Excludes(Option& other) {
  excluded_.push_back(static_cast<PartOption*>(&other));
  return *this;
}

bool PartOption::IsNamed(std::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

Status PartOption::Give(const std::string& text) {
  is_given_ = true;
  text_ = text;
  return parse_(text);
}

Status PartOption::Check(const std::string& part) const {
  if (is_required_ && !is_given_) {
    return UsageError("{} needs {}, as in {}:{}=…", part, name(), part, name());
  }
  if (!is_given_) return {};
  for (const PartOption* const other : needed_) {
    if (!other->is_given()) return UsageError("{}: {} needs {}", part, name(), other->name());
  }
  for (const PartOption* const other : excluded_) {
    if (other->is_given()) {
      return UsageError("{}: {} and {} exclude each other: give one of them", part, name(),
                        other->name());
    }
  }
  return {};
}

std::pair<std::string, std::optional<Report::Value>> PartOption::ToReport() const {
  if (!is_given_) return {name(), by_default_};
  return {name(), is_flag_ ? Report::Value(true) : ShownValue(shown_as_, text_)};
}

Option& PartOptions::OptionalPositional(const char* name, const char*, std::string& value) {
  return Text(name, "", "", value);
}
Option& PartOptions::Flag(const char* names, const char*, std::function<void()> set) {
  const auto parse = [set = std::move(set)](const std::string&) -> Status {
    set();
    return {};
  };
  return options_.emplace_back(names, parse, true);
}
Option& PartOptions::Value(const char* names, const char*, const char*, Options::Parse parse) {
  return options_.emplace_back(names, std::move(parse), false);
}
Option& PartOptions::Texts(const char* names, const char*, const char*,
                           std::vector<std::string>& values) {
  const auto parse = [&values](const std::string& text) -> Status {
    values.push_back(text);
    return {};
  };
  return options_.emplace_back(names, parse, false);
}
void PartOptions::RequireAny(std::vector<Option*> options) {
  for (Option* const option : options) any_.push_back(static_cast<PartOption*>(option));
}

PartOption* PartOptions::Find(std::string_view name) {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const PartOption& one) { return one.IsNamed(name); });
  return found == options_.end() ? nullptr : &*found;
}

std::string PartOptions::Names() const {
  std::string names;
  for (const PartOption& one : options_) names += (names.empty() ? "" : ", ") + one.name();
  return names.empty() ? "it has none" : "it has " + names;
}

Status PartOptions::Parse(const std::string& name, std::string_view text) {
  std::vector<std::pair<PartOption*, std::string>> given;
  for (const std::string_view piece : Split(text)) {
    const std::size_t equals = std::min(piece.find('='), piece.size());
    PartOption* const option = Find(piece.substr(0, equals));
    const bool has_value = equals < piece.size();
    if (option == nullptr && !has_value && !given.empty() && !given.back().first->is_flag()) {
      given.back().second += "," + std::string(piece);
      continue;
    }
    if (option == nullptr) {
      return UsageError("{} has no option '{}': {}", name, piece.substr(0, equals), Names());
    }
    if (option->is_flag() == has_value) {
      return UsageError("{}: {} takes {} value", name, option->name(), has_value ? "no" : "a");
    }
    given.emplace_back(option, has_value ? piece.substr(equals + 1) : "");
  }
  for (const auto& [option, value] : given) {
    if (const Status done = option->Give(value); !done) {
      return UsageError("{}: {}: {}", name, option->name(), done.error().message);
    }
  }
  for (const PartOption& option : options_) SLIM_TRY(option.Check(name));
  const auto is_given = [](const PartOption* one) { return one->is_given(); };
  if (!any_.empty() && std::none_of(any_.begin(), any_.end(), is_given)) {
    std::string names;
    for (const PartOption* const one : any_) names += (names.empty() ? "" : " or ") + one->name();
    return UsageError("{} needs {}, as in {}:{}", name, names, name, any_.front()->name());
  }
  return {};
}

void PartOptions::ToReport(const std::string& path, Report& report) const {
  for (const PartOption& option : options_) {
    auto [name, value] = option.ToReport();
    if (value) report.Set(path + "/" + name, *std::move(value));
  }
}

}  // namespace slimgraph
