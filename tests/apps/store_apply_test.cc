// `slimgraph store apply` with files that are given more than once: on purpose, after a kill, or
// with a batch id. Random sequences of files, killed at random, are compared with a serial graph.
#include <fmt/format.h>

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>

#include "tests/apps/store_support.h"

namespace slimgraph {
namespace {

constexpr const char* kInterrupted = "was interrupted behind line ";

// A model of an undirected graph without weights, to which updates are applied one by one.
class SerialGraph {
 public:
  explicit SerialGraph(Lists lists) : lists_(std::move(lists)) {}
  const Lists& lists() const { return lists_; }

  // The graph after the first `most` lines; nullopt if one of them names a missing vertex.
  std::optional<SerialGraph> After(const std::string& text, std::uint64_t most = ~0ULL) const {
    SerialGraph next = *this;
    std::istringstream lines(text);
    std::string line;
    for (std::uint64_t i = 0; i < most && std::getline(lines, line); ++i) {
      if (!next.Take(line)) return std::nullopt;
    }
    return next;
  }

 private:
  bool Take(const std::string& line) {
    std::istringstream words(line);
    std::string sign;
    std::uint64_t u = 0;
    std::uint64_t v = 0;
    words >> sign >> u >> v;
    if (sign.empty() || sign == "#") return true;
    if (sign == "+v") {
      lists_[u];
      return true;
    }
    if (!lists_.contains(u)) return false;
    if (sign == "-v") {
      for (auto& [name, list] : lists_) list.erase(u);
      lists_.erase(u);
      return true;
    }
    if (!lists_.contains(v)) return false;
    if (sign == "+") {
      lists_[u][v] = lists_[v][u] = 0;
    } else {
      lists_[u].erase(v);
      lists_[v].erase(u);
    }
    return true;
  }

  Lists lists_;
};

class Applying : public Stores {
 protected:
  // Writes a file of updates and returns its path.
  std::string File(const std::string& name, const std::string& text) const {
    WriteText(scratch_.File(name), text);
    return scratch_.File(name);
  }
  // Runs `store apply` and kills it when the log has grown by `bytes`, unless it ends before.
  CommandEnd KilledApply(const std::string& from, const std::vector<std::string>& more,
                         std::uint64_t bytes) const {
    const std::string log = store_ + "/log.0";
    bytes += std::filesystem::file_size(log);
    std::vector<std::string> words = {CommandPath(), "store", "apply", store_, "--from", from};
    words.insert(words.end(), more.begin(), more.end());
    RunningCommand running(words);
    siginfo_t ended = {};
    while (std::filesystem::file_size(log) < bytes && ended.si_pid == 0) {
      std::this_thread::yield();
      ::waitid(P_PID, static_cast<id_t>(running.pid()), &ended, WEXITED | WNOHANG | WNOWAIT);
    }
    ::kill(running.pid(), SIGKILL);
    return running.Wait();
  }
  // Kills `store apply` until a kill leaves a file half applied. Returns the last applied line.
  std::uint64_t Interrupt(const std::string& from, const std::vector<std::string>& more = {}) {
    const std::string other = File("other", "+ 1 1\n");
    while (true) {
      Create();
      std::vector<std::string> words = {"--batch", "1"};
      words.insert(words.end(), more.begin(), more.end());
      KilledApply(from, words, 500);
      const CommandEnd refused = Apply(other);
      if (refused.code == 0) continue;  // `from` was applied completely
      EXPECT_EQ(refused.code, 3);
      EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
      return LineIn(refused.err);
    }
  }
  static std::uint64_t LineIn(const std::string& message) {
    const std::size_t at = message.find("behind line ");
    EXPECT_NE(at, std::string::npos) << message;
    return at == std::string::npos ? 0 : std::stoull(message.substr(at + 12));
  }
  static std::string ManyEdges(int lines) {
    std::string text;
    for (int i = 0; i < lines; ++i) text += fmt::format("+ {} {}\n", i % 50, i * 7 % 50);
    return text;
  }
};

TEST_F(Applying, AFileGivenAgainIsAppliedAgain) {
  Create();
  const std::string a = File("a", "+ 1 2\n");
  const std::string b = File("b", "- 1 2\n");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Field(Apply(a), "updates"), "1");
    EXPECT_TRUE(Exported()[1].contains(2));
    EXPECT_EQ(Field(Apply(b), "updates"), "1");
    EXPECT_FALSE(Exported()[1].contains(2));
  }
}

// A file given twice looks on disk like a kill after the last batch and before the report, so the
// report mentions it.
TEST_F(Applying, ReportsThatTheLastBatchWasOfThisFile) {
  Create();
  const std::string a = File("a", "+ 1 2\n");
  const std::string b = File("b", "+ 1 3\n-v 3\n");
  constexpr const char* kAlready = "was of this file already";
  const auto apply = [&](const std::string& file) {
    return RunSlimgraph({"store", "apply", store_, "--from", file});
  };
  EXPECT_EQ(apply(a).out.find(kAlready), std::string::npos);
  const Lists after = Exported();
  const CommandEnd again = apply(a);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find(kAlready), std::string::npos) << again.out;
  EXPECT_EQ(Exported(), after);
  EXPECT_NE(Field(Apply(a), "same_at"), "0");
  EXPECT_EQ(Field(Apply(b), "same_at"), "0");
  const CommandEnd refused = apply(b);
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find(kAlready), std::string::npos) << refused.err;
  EXPECT_EQ(apply(a).out.find(kAlready), std::string::npos) << "another was last";
}

TEST_F(Applying, AnInterruptedFileContinuesAndOthersAreRefusedMeanwhile) {
  const std::string text = ManyEdges(200);
  const std::string from = File("updates", text);
  const std::uint64_t line = Interrupt(from);
  ASSERT_GT(line, 0u);
  const SerialGraph before(ListsOf(graph_));
  EXPECT_EQ(Exported(), before.After(text, line)->lists());
  const CommandEnd end = RunSlimgraph({"store", "apply", store_, "--from", from});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.out.find(fmt::format("continued after line {}\n", line)), std::string::npos)
      << end.out;
  EXPECT_EQ(Exported(), before.After(text)->lists());
  EXPECT_EQ(Field(Apply(from), "updates"), "200")
      << "it is whole: given again, it is applied again";
}

TEST_F(Applying, AbandonLeavesAnInterruptedFile) {
  const std::string text = ManyEdges(200);
  const std::string from = File("updates", text);
  const SerialGraph before(ListsOf(graph_));
  for (const bool with_another : {false, true}) {
    const std::uint64_t line = Interrupt(from);
    const std::string next = with_another ? "- 1 7\n+ 3 3\n" : "";
    std::vector<std::string> words = {"store", "apply", store_, "--abandon"};
    if (with_another) words.insert(words.end(), {"--from", File("next", next)});
    const CommandEnd end = RunSlimgraph(words);
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_NE(end.out.find(fmt::format("behind line {} of 200: abandoned\n", line)),
              std::string::npos)
        << end.out;
    EXPECT_EQ(Exported(), before.After(text, line)->After(next)->lists());
    EXPECT_EQ(Field(Apply(from), "updates"), "200") << "from its first line";
  }
  EXPECT_EQ(RunSlimgraph({"store", "apply", store_, "--abandon"}).out,
            store_ + ": no file was interrupted\n");
}

TEST_F(Applying, AFileUnderABatchIdIsAppliedOnce) {
  Create();
  const std::string a = File("a", "+ 1 2\n# a remark\n");
  const std::string b = File("b", "- 1 2\n");
  EXPECT_EQ(Field(Apply(a, {"--batch-id", "monday"}), "updates"), "1");
  EXPECT_EQ(Field(Apply(b), "updates"), "1");
  const CommandEnd again = Apply(a, {"--batch-id", "monday"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(Field(again, "updates"), "0");
  EXPECT_EQ(Field(again, "lines_before"), "2");
  EXPECT_FALSE(Exported()[1].contains(2));
  const CommandEnd other = Apply(b, {"--batch-id", "monday"});
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("batch id monday belongs to a"), std::string::npos) << other.err;
  EXPECT_EQ(Field(Apply(a, {"--batch-id", "tuesday"}), "updates"), "1");
  EXPECT_TRUE(Exported()[1].contains(2));
}

TEST_F(Applying, AnInterruptedFileContinuesOnlyUnderItsOwnBatchId) {
  const std::string from = File("updates", ManyEdges(200));
  const std::uint64_t line = Interrupt(from, {"--batch-id", "one"});
  for (const std::vector<std::string>& other :
       {std::vector<std::string>{}, {"--batch-id", "another"}}) {
    const CommandEnd end = Apply(from, other);
    EXPECT_EQ(end.code, 3);
    EXPECT_EQ(LineIn(end.err), line);
  }
  EXPECT_EQ(Field(Apply(from, {"--batch-id", "one"}), "lines_before"), std::to_string(line));
  EXPECT_EQ(Field(Apply(from, {"--batch-id", "one"}), "lines_before"), "200");
}

// Random lines; some name vertices that may not exist.
std::string RandomText(std::mt19937_64& random) {
  std::string text;
  const std::uint64_t lines = 1 + random() % 60;
  for (std::uint64_t i = 0; i < lines; ++i) {
    const std::uint64_t u = random() % 45;
    const std::uint64_t v = random() % 45;
    switch (random() % 16) {
      case 0:
        text += "# a remark\n";
        break;
      case 1:
        text += fmt::format("+v {}\n", 45 + random() % 10);
        break;
      case 2:
        text += fmt::format("+v {0}\n+ {0} {1}\n-v {0}\n", 60 + random() % 3, u);
        break;
      case 3:
        text += fmt::format("+v {0}\n-v {0}\n+v {0}\n", u);
        break;
      case 4:
        text += i % 4 == 0 ? fmt::format("-v {}\n", 45 + random() % 10) : "\n";
        break;
      default:
        text += fmt::format("{} {} {}\n", random() % 2 == 0 ? "+" : "-", u, v);
    }
  }
  return text;
}

// Files may be given repeatedly. After a kill comes the same file, another file, or --abandon.
TEST_F(Applying, RandomFilesWithRandomKillsMatchASerialGraph) {
  std::mt19937_64 random(StoreSeed());
  Create();
  SerialGraph model(ListsOf(graph_));
  std::vector<std::string> texts;
  std::vector<std::string> files;
  for (int i = 0; i < 8; ++i) {
    texts.push_back(RandomText(random));
    files.push_back(File(fmt::format("updates{}", i), texts.back()));
  }
  // The command was not killed: its result must match the model.
  const auto expect_applied = [&](const CommandEnd& end, const std::string& text) {
    const auto next = model.After(text);
    ASSERT_EQ(end.code, next ? 0 : 3) << end.err;
    if (next) {
      model = *next;
    } else {
      ASSERT_NE(end.err.find("there is no vertex"), std::string::npos) << end.err;
    }
  };
  int interrupted = 0;
  for (int step = 0; step < 80; ++step) {
    SCOPED_TRACE(fmt::format("step {}", step));
    const std::size_t one = random() % files.size();
    const std::size_t other = random() % files.size();
    std::vector<std::string> how = {"--batch", std::to_string(1 + random() % 4)};
    const bool once = random() % 4 == 0;
    if (once) how.insert(how.end(), {"--batch-id", fmt::format("step {}", step)});
    if (random() % 2 == 0) {
      const CommandEnd end = Apply(files[one], how);
      expect_applied(end, texts[one]);
      if (once && end.code == 0) {
        EXPECT_EQ(Field(Apply(files[one], how), "updates"), "0");
      }
    } else {
      const CommandEnd killed = KilledApply(files[one], how, random() % 1200);
      if (killed.code != 128 + SIGKILL) {
        expect_applied(killed, texts[one]);
      } else if (once) {
        // However much was applied before the kill, the file is now applied once.
        expect_applied(Apply(files[one], how), texts[one]);
      } else if (random() % 2 == 0) {
        // If the killed command had applied the whole file, this applies it twice: that changes
        // nothing, or fails because the file has deleted a vertex.
        const CommandEnd end = Apply(files[one], how);
        if (end.code != 0 && model.After(texts[one])) {
          model = *model.After(texts[one]);
          EXPECT_FALSE(model.After(texts[one]));
        } else {
          expect_applied(end, texts[one]);
        }
      } else if (const CommandEnd probe = Apply(File("nothing", "")); probe.code == 3) {
        ++interrupted;
        ASSERT_NE(probe.err.find(kInterrupted), std::string::npos) << probe.err;
        const auto part = model.After(texts[one], LineIn(probe.err));
        ASSERT_TRUE(part);
        EXPECT_EQ(Exported(), part->lists());
        if (random() % 2 == 0) {
          model = *part;
          expect_applied(Apply(files[other], {"--abandon"}), texts[other]);
        } else {
          expect_applied(Apply(files[one], how), texts[one]);
        }
      } else {  // the store has none of the file, or all of it
        ASSERT_EQ(probe.code, 0) << probe.err;
        const auto all = model.After(texts[one]);
        if (all && Exported() == all->lists()) model = *all;
      }
    }
    ASSERT_EQ(Exported(), model.lists());
  }
  std::cout << interrupted << " files were found interrupted" << std::endl;
}

}  // namespace
}  // namespace slimgraph
