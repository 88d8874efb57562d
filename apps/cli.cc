// The only file that knows the library that parses command lines.
#include "apps/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <sstream>

#include "apps/commands.h"
#include "apps/job/job_runner.h"
#include "apps/print.h"
#include "apps/suggest.h"
#include "slimgraph/base/environment.h"
#include "slimgraph/base/waits.h"
#include "slimgraph/launch/last_line.h"
#include "slimgraph/launch/started_by.h"

namespace slimgraph {
namespace {

constexpr const char* kIntroduction =
    R"(  slimgraph gen kron -s 18 -o kron18.slim                     make a graph of 2^18 vertices
  slimgraph convert road.txt road.slim --undirected           or convert your own graph
  slimgraph scan kron18.slim --nodes 4 --compute 2            read all of it on 2 of 4 nodes

SlimGraph runs graph jobs on C compute nodes over a graph in the memory of N nodes.)";

constexpr int kWrongUsage = static_cast<int>(ErrorKind::kUsage);

constexpr const char* kExitCodes =
    "Exit codes: 0 done, 1 the verification failed, 2 wrong usage, 3 bad input, 4 the environment.";
constexpr const char* kMoreHelp =
    "slimgraph help COMMAND (or slimgraph COMMAND --help) lists the options of a command; "
    "slimgraph "
    "version prints the version.\n";
constexpr const char* kAboutBytes =
    "BYTES: a number, or one with K, M, G or T, which are powers of 1024: 4096, 64K, 1.5G.\n";

Invocation& Current() {
  static Invocation line;
  return line;
}

// "-o,--output" -> "output"
std::string NameOf(std::string_view names) {
  names.remove_prefix(names.rfind(',') + 1);
  names.remove_prefix(std::min(names.find_first_not_of('-'), names.size()));
  return std::string(names);
}

// "--a, --b or --c"
std::string Alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return text;
}

class CliOption : public Option {
 public:
  CliOption(CLI::Option& option, std::string name, bool is_flag)
      : option_(option), name_(std::move(name)), is_flag_(is_flag) {}

  Option& Required() override {
    option_.required()->default_str("");
    option_.check([](const std::string& text) { return text.empty() ? "expected a value" : ""; });
    return *this;
  }
  Option& Default(const std::string& text) override {
    option_.default_str(text);
    return *this;
  }
  Option& Shown(ShownAs as, std::optional<Report::Value> by_default) override {
    shown_as_ = as;
    by_default_ = std::move(by_default);
    return *this;
  }
  Option& Needs(Option& other) override {
    option_.needs(&Of(other));
    return *this;
  }
  Option& Excludes(Option& other) override {
    option_.excludes(&Of(other));
    return *this;
  }
  static CLI::Option& Of(Option& option) { return static_cast<CliOption&>(option).option_; }

  // The value of the parsed option, as reports show it.
  std::optional<Report::Value> ToReport() const {
    if (option_.count() == 0) return by_default_;
    if (is_flag_) return true;
    const std::vector<std::string>& texts = option_.results();
    if (texts.size() > 1) return texts;
    return ShownValue(shown_as_, texts.front());
  }
  void AddTo(Invocation& line) const {
    if (auto value = ToReport()) line.options.emplace_back(name_, *std::move(value));
    if (option_.count() > 0) line.given.push_back(name_);
  }

 private:
  CLI::Option& option_;
  std::string name_;
  bool is_flag_;
  ShownAs shown_as_ = ShownAs::kText;
  std::optional<Report::Value> by_default_;
};

// Appends an option's rules (required, default, needs, excludes) to its description.
class HelpFormatter : public CLI::Formatter {
 public:
  // Adds a rule that CLI11 has no field for.
  void AddRule(const CLI::Option* option, std::string rule) { rules_[option] = std::move(rule); }

 private:
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    std::string rules;
    const auto add = [&rules](const std::string& rule) {
      rules += (rules.empty() ? " (" : "; ") + rule;
    };
    if (option->get_required() && !option->get_positional()) add("required");
    if (!option->get_default_str().empty()) add("default " + option->get_default_str());
    if (const auto own = rules_.find(option); own != rules_.end()) add(own->second);
    for (const CLI::Option* const other : option->get_needs()) add("needs " + other->get_name());
    for (const CLI::Option* const other : option->get_excludes()) {
      add("excludes " + other->get_name());
    }
    return option->get_description() + rules + (rules.empty() ? "" : ")");
  }

  // The name alone in the column of names, so that it is easy to find; aliases after the summary.
  std::string make_subcommand(const CLI::App* command) const override {
    std::string also;
    for (const std::string& alias : command->get_aliases())
      also += (also.empty() ? "" : ", ") + alias;
    if (!also.empty()) also = " (also: " + also + ")";
    std::ostringstream text;
    CLI::detail::format_help(text, command->get_name(), command->get_description() + also,
                             column_width_);
    return text.str();
  }

  std::map<const CLI::Option*, std::string> rules_;
};

class CliOptions : public Options {
 public:
  CliOptions(CLI::App& app, HelpFormatter& help) : app_(app), help_(help) {}

  void Positional(const char* name, const char* help, std::string& value) override {
    Keep(AddPositional(name, help, value)->required(), name);
  }
  void Positionals(const char* name, const char* help, std::vector<std::string>& values) override {
    const auto read = [&values](const std::vector<std::string>& texts) { values = texts; };
    CLI::Option* const option =
        app_.add_option_function<std::vector<std::string>>(name, read, help);
    Keep(option->type_name("")->required(), name);
  }
  Option& OptionalPositional(const char* name, const char* help, std::string& value) override {
    return Keep(AddPositional(name, help, value), name);
  }

  Option& Flag(const char* names, const char* help, std::function<void()> set) override {
    return Keep(app_.add_flag_callback(names, std::move(set), help), names, true)
        .Shown(ShownAs::kText, false);
  }

  Option& Value(const char* names, const char* kind, const char* help, Parse parse) override {
    const auto read = [parse = std::move(parse), names](const std::string& text) {
      const Status status = parse(text);
      if (!status) throw CLI::ValidationError(names, status.error().message);
    };
    return Keep(app_.add_option_function<std::string>(names, read, help)->type_name(kind), names);
  }

  Option& Texts(const char* names, const char* kind, const char* help,
                std::vector<std::string>& values) override {
    const auto read = [&values](const std::vector<std::string>& texts) { values = texts; };
    return Keep(
        app_.add_option_function<std::vector<std::string>>(names, read, help)->type_name(kind),
        names);
  }

  // Whether an option takes a number of bytes.
  bool has_bytes() const {
    const auto options = app_.get_options();
    return std::any_of(options.begin(), options.end(), [](const CLI::Option* option) {
      return option->get_type_name().starts_with("BYTES");
    });
  }

  void AddTo(Invocation& line) const {
    for (const CliOption& option : options_) option.AddTo(line);
  }

  // Not a CLI11 option group: --help would list its options in a section of their own.
  void RequireAny(std::vector<Option*> options) override {
    std::vector<CLI::Option*> any;
    std::vector<std::string> names;
    for (Option* const option : options) {
      any.push_back(&CliOption::Of(*option));
      names.push_back(any.back()->get_name());
    }
    for (const CLI::Option* const option : any) {
      help_.AddRule(option, Alternatives(names) + " is required");
    }
    app_.final_callback([any, names] {
      const auto given = [](const CLI::Option* option) {
        return option->count() > 0 && !option->results().front().empty();
      };
      if (std::any_of(any.begin(), any.end(), given)) return;
      throw CLI::RequiredError(Alternatives(names));
    });
  }

 private:
  CLI::Option* AddPositional(const char* name, const char* help, std::string& value) {
    const auto read = [&value](const std::string& text) { value = text; };
    return app_.add_option_function<std::string>(name, read, help)->type_name("");
  }
  Option& Keep(CLI::Option* option, const char* names, bool is_flag = false) {
    return options_.emplace_back(*option, NameOf(names), is_flag);
  }

  CLI::App& app_;
  HelpFormatter& help_;
  std::deque<CliOption> options_;
};

void WarnOfUnknownVariables() {
  for (const std::string& warning : UnknownVariables()) {
    std::fputs(("slimgraph: warning: " + warning + "\n").c_str(), stderr);
  }
}

struct Parser {
  CLI::App* app;
  const Command* command;
  std::unique_ptr<CliOptions> options;
};

// The parser of the command that the user named; null if the command line names none.
const Parser* ChosenParser(const std::vector<Parser>& parsers) {
  for (const Parser& parser : parsers) {
    if (parser.app->parsed()) return &parser;
  }
  return nullptr;
}

Status CheckStartedProcesses(const Parser& parser) {
  if (parser.options->runs_as_copies()) return {};
  SLIM_TRY(CheckLaunch());
  if (parser.options->runs_as_job() || StartedNodes() == 1) return {};
  return UsageError(
      "{} runs in one process, but the launcher started {}; run it without a launcher",
      parser.command->name, StartedNodes());
}

// "--source V: where the search starts", for the error about a missing option.
std::string DescribeOption(const CLI::App& command, const std::string& name) {
  const CLI::Option* const option = command.get_option_no_throw(name);
  if (option == nullptr) return name;
  const std::string kind = option->get_type_name();
  return fmt::format("{}{}{}: {}", name, kind.empty() ? "" : " ", kind, option->get_description());
}

// All options of the command, as "--name".
std::vector<std::string> LongNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Rewords an error of CLI11 about the command line of `parser`.
std::string RewordError(const CLI::ParseError& wrong, const Parser& parser) {
  const std::string text = wrong.what();
  const auto split = [&text](std::string_view between) {
    const std::size_t at = text.find(between);
    return std::pair(text.substr(0, at), text.substr(at + between.size()));
  };
  if (dynamic_cast<const CLI::RequiredError*>(&wrong) != nullptr) {
    const std::string name = split(" is required").first;
    return fmt::format("{} needs {}", parser.command->name, DescribeOption(*parser.app, name));
  }
  if (dynamic_cast<const CLI::RequiresError*>(&wrong) != nullptr) {
    const auto [name, needed] = split(" requires ");
    return fmt::format("{} needs {}", name, DescribeOption(*parser.app, needed));
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&wrong) != nullptr) {
    const auto [name, other] = split(" excludes ");
    return fmt::format("{} and {} exclude each other: give one of them", name, other);
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&wrong) != nullptr) {
    const std::string first = parser.app->remaining().front();
    const std::string& name = parser.command->name;
    if (!first.starts_with('-')) return fmt::format("{} takes no further argument {}", name, first);
    return fmt::format("{} takes no option {}{}", name, first,
                       SuggestOptions(first.substr(0, first.find('=')), LongNames(*parser.app)));
  }
  return text;
}

// Prints one line about a wrong command line, or the text of --help or --version. Returns the exit
// code.
int PrintEndOfParsing(const CLI::App& app, const CLI::ParseError& end, const Parser* parser,
                      const std::vector<std::string>& arguments,
                      const std::vector<Command>& commands) {
  const bool asked = end.get_exit_code() == 0;
  if (StartedRank() != 0) return asked ? 0 : kWrongUsage;  // rank 0 prints for all
  if (asked) {
    std::ostringstream text;
    app.exit(end, text);
    return Print(text.str());
  }
  if (parser != nullptr) {
    return PrintError(
        {ErrorKind::kUsage, fmt::format("{}; see slimgraph {} --help", RewordError(end, *parser),
                                        parser->command->name)});
  }
  const auto groups = app.get_subcommands();  // the parsed ones: a group without its command
  const std::string of = groups.empty() ? "" : groups.front()->get_name() + " ";
  const std::size_t at = groups.empty() ? 1 : 2;
  const bool unknown = arguments.size() > at && arguments[at][0] != '-';
  const std::string what = unknown ? fmt::format("there is no command '{}{}'{}", of, arguments[at],
                                                 SuggestCommands(of + arguments[at], commands))
                           : dynamic_cast<const CLI::RequiredError*>(&end) != nullptr
                               ? "a command is missing"
                               : end.what();
  return PrintError({ErrorKind::kUsage, fmt::format("{}; see slimgraph {}--help", what, of)});
}

// The group of a command like "bench fabric"; its first command creates it.
CLI::App& CommandGroup(CLI::App& app, const std::string& name) {
  const std::size_t blank = name.find(' ');
  if (blank == std::string::npos) return app;
  const std::string group = name.substr(0, blank);
  for (CLI::App* const known : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (known->get_name() == group) return *known;
  }
  CLI::App* const made = app.add_subcommand(group, GroupSummary(group));
  made->require_subcommand(1);
  return *made;
}

// "slimgraph help bfs" -> "slimgraph bfs --help", "slimgraph version" -> "slimgraph --version".
// A command that does not exist gets no "--help", so that parsing complains about it.
std::vector<std::string> WithoutHelpCommand(const CLI::App& app, std::vector<std::string> words) {
  if (words.size() < 2) return words;
  if (words[1] == "version") words[1] = "--version";
  if (words[1] != "help") return words;
  words.erase(words.begin() + 1);
  const CLI::App* command = &app;
  for (std::size_t i = 1; i < words.size() && command != nullptr; ++i) {
    const auto named =
        command->get_subcommands([&](const CLI::App* one) { return one->check_name(words[i]); });
    command = named.empty() ? nullptr : named.front();
  }
  if (command != nullptr) words.emplace_back("--help");
  return words;
}

}  // namespace

const Invocation& TheInvocation() { return Current(); }

int RunCommand(int argc, char** argv) {
  CLI::App app(kIntroduction, "slimgraph");
  app.set_version_flag("--version", "slimgraph " SLIMGRAPH_VERSION);
  app.require_subcommand(1);
  app.footer(std::string(kMoreHelp) + kExitCodes);
  const auto formatter = std::make_shared<HelpFormatter>();
  app.formatter(formatter);
  const std::vector<Command> commands = AllCommands();
  std::vector<Parser> parsers;
  for (const Command& command : commands) {
    const std::string own_name = command.name.substr(command.name.find(' ') + 1);
    CLI::App* const parser =
        CommandGroup(app, command.name).add_subcommand(own_name, command.summary);
    for (const std::string& alias : command.aliases) parser->alias(alias);
    parsers.push_back({parser, &command, std::make_unique<CliOptions>(*parser, *formatter)});
    // Only the named command declares its options, as each process spends time on this.
    CliOptions& options = *parsers.back().options;
    parser->preparse_callback([&command, &options, parser](std::size_t) {
      command.declare(options);
      parser->footer((options.has_bytes() ? kAboutBytes : "") + std::string(kExitCodes));
    });
  }
  const std::vector<std::string> words = WithoutHelpCommand(app, {argv, argv + argc});
  Current().json = std::find(words.begin(), words.end(), "--json") != words.end();
  if (Current().json) SetFailureHook(PrintFailureObject);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::ParseError& end) {
    if (const Parser* const chosen = ChosenParser(parsers))
      Current().command = chosen->command->name;
    return PrintEndOfParsing(app, end, ChosenParser(parsers), words, commands);
  }
  if (StartedRank() == 0) WarnOfUnknownVariables();
  const Parser* const parser = ChosenParser(parsers);
  if (parser == nullptr) return kWrongUsage;
  Current().command = parser->command->name;
  parser->options->AddTo(Current());
  const auto tell = [](const std::string& line) {
    std::fputs(("slimgraph: " + line + "\n").c_str(), stderr);
  };
  if (const Status log = StartWaitLog(tell); !log) return PrintError(log.error());
  const Status launch = CheckStartedProcesses(*parser);
  return launch ? parser->command->run({argv + 1, argv + argc}) : PrintError(launch.error());
}

}  // namespace slimgraph
