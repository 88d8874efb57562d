#include "apps/job/begin_again.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "apps/print.h"
#include "slimgraph/base/process.h"
#include "slimgraph/base/result.h"

namespace slimgraph {
namespace {

constexpr const char* kTimes = "SLIMGRAPH_BEGUN_AGAIN";
constexpr int kMostTimes = 3;

}  // namespace

int TimesBegunAgain() {
  const char* const times = std::getenv(kTimes);
  return times != nullptr ? std::atoi(times) : 0;
}

void BeginAgain(const std::string& reason, const std::vector<std::string>& arguments) {
  const int times = TimesBegunAgain();
  if (times == kMostTimes || !PreventResults()) return;
  std::fputs(fmt::format("slimgraph: {}; the job begins again\n", reason).c_str(), stderr);
  ::setenv(kTimes, std::to_string(times + 1).c_str(), 1);
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), "slimgraph");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // The new program would inherit what this thread blocks.
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::execv("/proc/self/exe", pointers.data());
  std::perror("slimgraph: the job cannot begin again");
  EndProcess(static_cast<int>(ErrorKind::kEnvironment));
}

}  // namespace slimgraph
