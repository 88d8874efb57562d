// The help of every command's options, and the errors of command lines that break their rules.
#include <gtest/gtest.h>

#include <deque>

#include "apps/commands.h"
#include "tests/support/command.h"

namespace slimgraph {
namespace {

struct ToldOption : Option {
  explicit ToldOption(const char* names) : name(names) {}
  Option& Required() override {
    required = true;
    return *this;
  }
  Option& Default(const std::string& text) override {
    usual = text;
    return *this;
  }
  Option& Shown(ShownAs, std::optional<Report::Value>) override { return *this; }
  Option& Needs(Option&) override { return *this; }
  Option& Excludes(Option&) override { return *this; }

  std::string name;
  bool required = false;
  std::string usual;
};

// Records the declarations of options that take a value.
class RecordedOptions : public Options {
 public:
  void Positional(const char*, const char*, std::string&) override {}
  void Positionals(const char*, const char*, std::vector<std::string>&) override {}
  Option& OptionalPositional(const char* name, const char*, std::string&) override {
    return told.emplace_back(name);
  }
  Option& Flag(const char* names, const char*, std::function<void()>) override {
    return flags_.emplace_back(names);
  }
  Option& Value(const char* names, const char*, const char*, Parse) override {
    return told.emplace_back(names);
  }
  Option& Texts(const char* names, const char*, const char*, std::vector<std::string>&) override {
    return told.emplace_back(names);
  }
  void RequireAny(std::vector<Option*> options) override {
    for (Option* const option : options) option->Required();
  }

  std::deque<ToldOption> told;

 private:
  std::deque<ToldOption> flags_;
};

TEST(Options, EachIsRequiredOrHasADefault) {
  for (const Command& command : AllCommands()) {
    RecordedOptions options;
    command.declare(options);
    for (const ToldOption& option : options.told) {
      EXPECT_TRUE(option.required || !option.usual.empty()) << command.name << " " << option.name;
    }
  }
}

TEST(Options, HelpShowsWhatIsRequiredEachDefaultAndTheRules) {
  const auto line_of = [](std::vector<std::string> words, const std::string& option) {
    words.emplace_back("--help");
    const std::string help = RunSlimgraph(std::move(words)).out;
    const std::size_t at = help.find("  " + option + " ");
    return help.substr(std::min(at, help.size()), help.find("\n  -", at) - at);
  };
  const auto shows = [&](std::vector<std::string> words, const std::string& option,
                         const std::string& what) {
    const std::string line = line_of(std::move(words), option);
    EXPECT_NE(line.find(what), std::string::npos) << option << ": " << line;
  };
  shows({"bfs"}, "--source", "(required)");
  shows({"bfs"}, "--threads", "(default 1)");
  shows({"bfs"}, "--mode", "(default auto)");
  shows({"pagerank"}, "--damping", "(default 0.85)");
  shows({"pagerank"}, "--iterations", "(default 20; excludes --tolerance)");
  shows({"match"}, "--limit", "(default all; needs --list; excludes --verify)");
  shows({"bc"}, "--sources", "(--sources or --random is required; excludes --random)");
  shows({"triangles"}, "--edge-cache", "(default auto)");
  shows({"pagerank"}, "--edge-cache", "(default auto)");
}

TEST(Options, HelpAndVersionAreCommandsToo) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{}, {"bfs"}, {"wcc"}, {"txn"}, {"txn", "run"}}) {
    std::vector<std::string> first = {"help"};
    first.insert(first.end(), words.begin(), words.end());
    std::vector<std::string> last = words;
    last.emplace_back("--help");
    const CommandEnd end = RunSlimgraph(first);
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.out, RunSlimgraph(last).out);
    EXPECT_NE(end.out.find("Usage: slimgraph"), std::string::npos) << end.out;
  }
  EXPECT_EQ(RunSlimgraph({"version"}).out, RunSlimgraph({"--version"}).out);
}

TEST(Options, WhoSearchesHelpFindsTheCommandByItsFullName) {
  const std::string help = RunSlimgraph({"--help"}).out;
  for (const char* const word : {"components", "betweenness", "clustering", "breadth-first",
                                 "shortest paths", "transactions", "slimgraph help COMMAND"}) {
    EXPECT_NE(help.find(word), std::string::npos) << word;
  }
  const std::vector<std::pair<std::string, std::string>> kAliases = {
      {"components", "cc"}, {"betweenness", "bc"}, {"clustering", "lcc"}};
  for (const auto& [alias, name] : kAliases) {
    EXPECT_NE(RunSlimgraph({alias, "--help"}).out.find("Usage: slimgraph " + name),
              std::string::npos)
        << alias;
  }
}

TEST(Options, HelpSaysWhatSizesNetworksAndStageCodesMean) {
  const std::string scan = RunSlimgraph({"scan", "--help"}).out;
  for (const char* const text : {"powers of 1024", "fdr or edr (InfiniBand of 56 or 100 Gb/s)",
                                 "efa (Amazon's Elastic Fabric Adapter)"}) {
    EXPECT_NE(scan.find(text), std::string::npos) << text;
  }
  const std::string run = RunSlimgraph({"txn", "run", "--help"}).out;
  for (const char* const text : {"occ: read lock validate log commit release", "(default occ)"}) {
    EXPECT_NE(run.find(text), std::string::npos) << text;
  }
}

TEST(Options, ALineSaysWhichRuleIsBrokenAndWhatToDo) {
  const auto ends = [](std::vector<std::string> words, const std::string& line) {
    const CommandEnd end = RunSlimgraph(std::move(words));
    EXPECT_EQ(end.code, 2);
    EXPECT_EQ(end.out, "");
    EXPECT_EQ(end.err, "slimgraph: " + line + "\n");
  };
  ends({"sssp", "g.slim"},
       "sssp needs --source V: where the paths start; see slimgraph sssp --help");
  ends({"scan"},
       "scan needs GRAPH: a .slim file, a graph in another format, which is converted once, or "
       "NAME:G, the graph G of the pool NAME; see slimgraph scan --help");
  ends(
      {"txn", "sweep", "--workload", "ycsb", "--protocol", "occ"},
      "txn sweep needs --over coroutines|hot|compute-us|qps|stages: the option that is varied; see "
      "slimgraph txn sweep --help");
  ends({"gen", "kron", "--output", ""}, "--output: expected a value; see slimgraph gen --help");
  ends({"match", "g.slim", "--pattern", "house", "--limit", "3"},
       "--limit needs --list OUT: write the embeddings to OUT, which appears when it is "
       "complete; -: standard output; see slimgraph match --help");
  ends({"convert", "in.txt", "out.slim", "--directed", "--undirected"},
       "--directed and --undirected exclude each other: give one of them; see slimgraph convert "
       "--help");
  ends({"bc", "g.slim"}, "bc needs --sources or --random; see slimgraph bc --help");
  ends({"bc", "g.slim", "--sources", "1", "--random", "2"},
       "--sources and --random exclude each other: give one of them; see slimgraph bc --help");
  ends({"bc", "g.slim", "--sources", "1", "--seed", "2"},
       "--seed needs --random K: from K vertices chosen by --seed; see slimgraph bc --help");
  ends({"store", "apply", "s", "--from", ""},
       "store apply needs --from, --abandon or --durable; see slimgraph store apply --help");
  ends({"cliques", "g.slim", "-k", "9"},
       "-k: 9 is out of range: 3..8; see slimgraph cliques --help");
  ends({"bench"}, "a command is missing; see slimgraph bench --help");
}

}  // namespace
}  // namespace slimgraph
