// The only file that knows the library that parses command lines.
#include "apps/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "apps/command.h"
#include "apps/job_runner.h"
#include "slimgraph/base/environment.h"
#include "slimgraph/launch/started_by.h"

namespace slimgraph {
namespace {

constexpr const char* kIntroduction =
    R"(  slimgraph gen kron -s 18 -o kron18.slim                     make a graph of 2^18 vertices
  slimgraph convert road.txt road.slim --undirected           or take one of your own
  slimgraph scan kron18.slim --nodes 4 --compute 2            read all of it on 2 of 4 nodes

SlimGraph runs graph jobs on C compute nodes over a graph that lies in the memory of N nodes.)";

constexpr int kWrongUsage = static_cast<int>(ErrorKind::kUsage);

constexpr const char* kExitCodes =
    "Exit codes: 0 done, 1 the verification failed, 2 wrong usage, 3 bad input, 4 the environment.";

std::vector<std::pair<std::string, std::string>>& Given() {
  static std::vector<std::pair<std::string, std::string>> given;
  return given;
}

// "-o,--output" -> "output"
std::string NameOf(std::string_view names) {
  names.remove_prefix(names.rfind(',') + 1);
  names.remove_prefix(std::min(names.find_first_not_of('-'), names.size()));
  return std::string(names);
}

class CliOptions : public Options {
 public:
  explicit CliOptions(CLI::App& app) : app_(app) {}

  void Positional(const char* name, const char* help, std::string& value) override {
    AddPositional(name, help, value)->required();
  }
  void OptionalPositional(const char* name, const char* help, std::string& value) override {
    AddPositional(name, help, value);
  }

  void Flag(const char* names, const char* help, std::function<void()> set) override {
    const auto note = [set = std::move(set), names] {
      Given().emplace_back(NameOf(names), "true");
      set();
    };
    app_.add_flag_callback(names, note, help);
  }

  void Value(const char* names, const char* kind, const char* help, Parse parse) override {
    const auto read = [parse = std::move(parse), names](const std::string& text) {
      Given().emplace_back(NameOf(names), text);
      const Status status = parse(text);
      if (!status) throw CLI::ValidationError(names, status.error().message);
    };
    app_.add_option_function<std::string>(names, read, help)->type_name(kind);
  }

  void Texts(const char* names, const char* kind, const char* help,
             std::vector<std::string>& values) override {
    const auto read = [&values, names](const std::vector<std::string>& texts) {
      for (const std::string& text : texts) Given().emplace_back(NameOf(names), text);
      values = texts;
    };
    app_.add_option_function<std::vector<std::string>>(names, read, help)->type_name(kind);
  }

 private:
  CLI::Option* AddPositional(const char* name, const char* help, std::string& value) {
    const auto read = [&value, name](const std::string& text) {
      Given().emplace_back(name, text);
      value = text;
    };
    return app_.add_option_function<std::string>(name, read, help)->type_name("");
  }
  CLI::App& app_;
};

void WarnOfUnknownVariables() {
  for (const std::string& warning : UnknownVariables()) {
    std::fputs(("slimgraph: warning: " + warning + "\n").c_str(), stderr);
  }
}

struct Parser {
  CLI::App* app;
  const Command* command;
  bool runs_as_job;
};

Status CheckCopies(const Parser& parser) {
  SLIM_TRY(CheckLaunch());
  if (parser.runs_as_job || StartedNodes() == 1) return {};
  return UsageError("{} is the work of one process, and the launcher started {}; run it without",
                    parser.command->name, StartedNodes());
}

// The group of a command like "bench fabric", made when it is first needed.
CLI::App& GroupOf(CLI::App& app, const std::string& name) {
  const std::size_t blank = name.find(' ');
  if (blank == std::string::npos) return app;
  const std::string group = name.substr(0, blank);
  for (CLI::App* const known : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (known->get_name() == group) return *known;
  }
  CLI::App* const made = app.add_subcommand(group, "see slimgraph " + group + " --help");
  made->require_subcommand(1);
  return *made;
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& GivenOptions() { return Given(); }

int RunCommand(int argc, char** argv) {
  CLI::App app(kIntroduction, "slimgraph");
  app.set_version_flag("--version", "slimgraph " SLIMGRAPH_VERSION);
  app.require_subcommand(1);
  app.footer(kExitCodes);
  const std::vector<Command> commands = AllCommands();
  std::vector<Parser> parsers;
  for (const Command& command : commands) {
    const std::string own_name = command.name.substr(command.name.find(' ') + 1);
    CLI::App* const parser = GroupOf(app, command.name).add_subcommand(own_name, command.summary);
    CliOptions options(*parser);
    command.declare(options);
    parsers.push_back({parser, &command, options.runs_as_job()});
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& wrong) {
    if (StartedRank() != 0) return wrong.get_exit_code() == 0 ? 0 : kWrongUsage;  // one is enough
    if (wrong.get_exit_code() == 0) return app.exit(wrong);  // --help, --version
    const bool unknown = argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty();
    const std::string what =
        unknown ? fmt::format("there is no command '{}'", argv[1]) : wrong.what();
    std::fputs(fmt::format("slimgraph: {}; see slimgraph --help\n", what).c_str(), stderr);
    return kWrongUsage;
  }
  if (StartedRank() == 0) WarnOfUnknownVariables();
  for (const Parser& parser : parsers) {
    if (!parser.app->parsed()) continue;
    const Status launch = CheckCopies(parser);
    return launch ? parser.command->run({argv + 1, argv + argc}) : Complain(launch.error());
  }
  return kWrongUsage;
}

}  // namespace slimgraph
