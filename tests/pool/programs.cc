#include "tests/pool/programs.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <thread>

#include "slimgraph/launch/place.h"
#include "slimgraph/pool/attach.h"
#include "slimgraph/pool/pool_node.h"
#include "slimgraph/pool/standing_part.h"

namespace slimgraph::test {
namespace {

std::vector<std::string> WordsOfProcess(const std::string& process, const char* what) {
  const std::string text = ReadText("/proc/" + process + "/" + what);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\0', at);
    words.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return words;
}

Result<StandingPart> LoadWords(const PartToLoad& what) {
  const std::string text = ReadText(what.file);
  if (text == "die") std::raise(SIGKILL);
  while (text == "hang") ::pause();
  if (text == "fail" || what.view == "fail") {
    return InputError("{}: fails on node {}", what.file, what.node);
  }
  const bool slow = text == "slow" && what.node == 0;
  if (what.view == "wait" || slow) {
    WriteText(fmt::format("{}.begun.{}", what.file, ::getpid()), "");
    while (::access((what.file + ".go").c_str(), F_OK) != 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  const bool differs = text == "differs";
  const bool is_word = differs || text == "slow" || text == "stops";
  StandingPart part{
      .facts = fmt::format("{} of {}", differs ? std::to_string(what.node) : text, what.nodes),
      .memories = {}};
  if (!what.view.empty()) part.facts = what.view + " " + part.facts;
  SLIM_ASSIGN(part.memories.emplace_back(), SharedMemory::Create(is_word ? 1 : std::stoull(text)));
  part.memories[0]->base()[0] = static_cast<std::byte>(what.node);
  SLIM_TRY(part.memories[0]->Seal());
  return part;
}

std::string TextOfPart(const std::optional<StandingHere>& here) {
  if (!here) return "";
  return fmt::format("{} {}: {}, {}", here->graph, here->facts,
                     static_cast<int>(here->memories[0]->base()[0]), here->memories[0]->bytes());
}

std::string TextOfQuota(const Quota& quota) {
  if (quota.memory_bytes == 0 && quota.bytes_per_s == 0) return "";
  return fmt::format("; from {} on {} and {}/s", quota.first_lender, quota.memory_bytes,
                     quota.bytes_per_s);
}

// A compute node that node 0 has started, or a deputy.
Status JoinJob() {
  const auto place = Unwrap(TakePlace());
  const auto here = Unwrap(TakeStandingPart());
  SLIM_ASSIGN(const auto job, Job::Join(place->Config(), OnLoss::kReport));
  SLIM_TRY(job->Exchange(TextOfPart(here) + TextOfQuota(job->quota())));
  return job->Leave(0);
}

int RunProgram(const std::vector<std::string>& words) {
  const std::string& role = words[1];
  const auto code = [](const Status& status) {
    if (!status) fmt::print(stderr, "{}\n", status.error().message);
    return status ? 0 : status.error().exit_code();
  };
  if (role == kPoolNodeCommand) return code(ServePoolNode());
  if (role == kPoolJoinCommand) return code(JoinPool());
  if (role == kPoolHostCommand) {
    const auto answer = ServePoolHost({std::istreambuf_iterator<char>(std::cin), {}});
    if (answer) fmt::print("{}", *answer);
    std::fflush(stdout);
    return code(answer.map([](const std::string&) {}));
  }
  if (role == kPoolLoaderCommand) {
    const Status served = ServeLoading({.file = words[2],
                                        .shown = words[3],
                                        .node = static_cast<NodeId>(std::stoul(words[4])),
                                        .nodes = static_cast<NodeId>(std::stoul(words[5])),
                                        .view = words[6]},
                                       LoadWords);
    if (ReadText(words[2]) == "stops") std::raise(SIGSTOP);
    return code(served);
  }
  if (role == kJobCommand) return code(JoinJob());
  if (role == kBrokenJobCommand) return 3;
  if (role == kWritingJobCommand) {
    WriteText(words[2], "a deputy was here");
    return 0;
  }
  while (role == kDeafJobCommand) ::pause();
  return -1;
}

// Runs before the first test, and instead of all tests in the processes that the tests have
// started.
class OtherRoles : public ::testing::Environment {
  void SetUp() override {
    const auto words = WordsOfProcess("self", "cmdline");
    Unwrap(ConfineDeputy());
    const int code = words.size() > 1 ? RunProgram(words) : -1;
    if (code >= 0) ::_exit(code);
  }
};
[[maybe_unused]] const auto* const other_roles =
    ::testing::AddGlobalTestEnvironment(new OtherRoles);

}  // namespace

void WriteGraph(const std::string& path, const std::string& text) { WriteText(path, text); }

Pools::Pools() { ::setenv("SLIMGRAPH_POOLS", folder_.File("pools").c_str(), 1); }

Pools::~Pools() {
  for (const pid_t process : Processes()) ::kill(process, SIGKILL);
  EXPECT_TRUE(AwaitProcesses(0));
  ::unsetenv("SLIMGRAPH_POOLS");
}

PoolDescriptor Pools::Start(const std::string& name, NodeId nodes, std::uint64_t memory_bytes) {
  return Unwrap(StartPool({.name = name, .nodes = nodes, .memory_bytes = memory_bytes})).pool;
}

Result<PoolLoaded> Pools::Load(const std::string& pool, const std::string& graph,
                               const std::string& text) {
  const std::string path = File(graph + ".words");
  WriteText(path, text);
  return LoadIntoPool({.pool = pool, .graph = graph, .file = path});
}

std::vector<pid_t> Pools::Processes() const {
  std::vector<pid_t> found;
  const std::string variable = "SLIMGRAPH_POOLS=" + File("pools");
  DIR* const all = ::opendir("/proc");
  while (const dirent* const entry = ::readdir(all)) {
    const pid_t process = std::atoi(entry->d_name);
    if (process <= 0 || process == ::getpid()) continue;
    for (const std::string& word : WordsOfProcess(entry->d_name, "environ")) {
      if (word == variable) found.push_back(process);
    }
  }
  ::closedir(all);
  return found;
}

bool Pools::AwaitProcesses(std::size_t count) const {
  for (int i = 0; i < 2000; ++i) {
    if (Processes().size() == count) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

pid_t Fork(const std::function<void()>& work) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  work();
  ::_exit(0);
}

Result<std::vector<std::string>> RunJob(const std::string& pool, const std::string& graph,
                                        NodeId compute, const std::string& command,
                                        const std::string& view) {
  SLIM_ASSIGN(const auto attachment,
              Attachment::Make({.pool = pool,
                                .graph = graph,
                                .view_of = [view](const std::string&) { return view; },
                                .compute = compute,
                                .words = {command, "a word"}}));
  SLIM_ASSIGN(const auto job, Job::Join(attachment->TakeConfig(), OnLoss::kReport));
  const std::string quota = TextOfQuota(job->quota());
  SLIM_ASSIGN(auto texts, job->Exchange(quota));
  SLIM_TRY(job->Leave(0));
  for (NodeId node = 0; node < compute; ++node) EXPECT_EQ(texts[node], quota);
  texts.erase(texts.begin(), texts.begin() + compute);
  return texts;
}

}  // namespace slimgraph::test
