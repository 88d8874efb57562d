#include "apps/doctor/doctor_hosts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/run_child.h"
#include "slimgraph/base/sockets.h"

namespace slimgraph {
namespace {

using Verdict = DoctorFinding::Verdict;

constexpr double kResolveLimitS = 5;
constexpr double kAnswerLimitS = 10;
constexpr double kMostClockS = 1;

// "0..3, 8"
std::string RanksInWords(const std::vector<NodeId>& ranks) {
  std::string words;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    words += fmt::format("{}{}", words.empty() ? "" : ", ", ranks[i]);
    if (end - i > 1) words += fmt::format("..{}", ranks[end - 1]);
    i = end;
  }
  return words;
}

// The lookup is another process, since there is no limit on the time of getaddrinfo.
std::string WhyUnresolved(const std::string& name) {
  const auto end = RunChild({"getent", "ahosts", name}, kResolveLimitS);
  if (!end) return "";  // without getent, ssh will tell
  if (end->timed_out) return fmt::format("no name server answers within {:.0f} s", kResolveLimitS);
  return end->code == 0 ? "" : "neither /etc/hosts nor a name server knows it";
}

// Prints "time T", "program CHECKSUM" and "reached ADDRESS" on a host.
std::string Questions(const std::string& program, std::uint16_t port) {
  std::string addresses;
  for (const std::string& address : HostAddresses()) addresses += " " + address;
  return fmt::format(
      "echo time $(date +%s.%N); echo program $(sha256sum '{}' 2>/dev/null | cut -d ' ' -f 1); "
      "for a in{}; do timeout 3 bash -c \"exec 3<>/dev/tcp/$a/{}\" 2>/dev/null && "
      "{{ echo reached $a; break; }}; done; exit 0",
      program, addresses, port);
}

double CalendarSeconds() { return static_cast<double>(CalendarNs()) * 1e-9; }

HostAnswer Ask(const std::string& name, const std::string& questions) {
  HostAnswer answer;
  answer.unresolved = WhyUnresolved(name);
  if (!answer.unresolved.empty()) return answer;
  const double before_s = CalendarSeconds();
  const auto end = RunOnHost(name, questions, "", kAnswerLimitS);
  answer.took_s = CalendarSeconds() - before_s;
  if (!end) answer.no_login = end.error().message;
  if (end && end->timed_out) {
    answer.no_login = fmt::format("no answer within {:.0f} s", kAnswerLimitS);
  } else if (end && end->code != 0) {
    answer.no_login =
        end->last_line.empty() ? fmt::format("exit code {}", end->code) : end->last_line;
  }
  if (!answer.no_login.empty()) return answer;
  std::istringstream lines(end->out);
  std::string what;
  std::string value;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream columns(line);
    value.clear();
    columns >> what >> value;
    if (what == "program") answer.program = value;
    if (what == "reached" && answer.reached.empty()) answer.reached = value;
    // The host has read its clock at some moment between `before_s` and now.
    if (what == "time") {
      const double theirs_s = std::strtod(value.c_str(), nullptr);
      answer.clock_s = theirs_s - std::clamp(theirs_s, before_s, before_s + answer.took_s);
    }
  }
  return answer;
}

}  // namespace

DoctorFinding JudgeHost(const HostLine& host, const HostAnswer& answer, const std::string& program,
                        const std::string& checksum) {
  const std::string& name = host.name;
  const auto bad = [&](std::string what, std::string mend) {
    return DoctorFinding{name, Verdict::kBad, std::move(what), std::move(mend)};
  };
  if (!answer.unresolved.empty()) {
    return bad(
        "its name has no address: " + answer.unresolved,
        "correct the name, or add it to /etc/hosts of all hosts; mpiexec would wait forever");
  }
  if (!answer.no_login.empty()) {
    const bool answers = answer.no_login.find("connect to host") == std::string::npos;
    return bad("ssh cannot run a command there: " + answer.no_login,
               fmt::format("{}; then `ssh {} true` must work without a question",
                           answers ? "ssh-copy-id " + name : "start its ssh server", name));
  }
  if (answer.program.empty()) {
    return bad(fmt::format("there is no {}", program),
               fmt::format("scp {} {}:{}", program, name, program));
  }
  if (answer.program != checksum) {
    return bad(fmt::format("its {} is another program than here", program),
               fmt::format("scp {} {}:{}", program, name, program));
  }
  if (answer.reached.empty()) {
    std::string addresses;
    for (const std::string& one : HostAddresses()) addresses += " " + one;
    return bad("it cannot connect to this host, at any of" + addresses,
               "allow TCP connections between the hosts at all ports; SLIMGRAPH_HOST names another "
               "address");
  }
  if (std::abs(answer.clock_s) > kMostClockS) {
    return {name, Verdict::kNote,
            fmt::format("its clock is {:.1f} s {} ours: times of stores and logs differ",
                        std::abs(answer.clock_s), answer.clock_s > 0 ? "ahead of" : "behind"),
            "apt-get install chrony"};
  }
  return {name, Verdict::kGood,
          fmt::format("rank{} {}; the same program, connects to {}, answered in {:.2f} s",
                      host.ranks.size() == 1 ? "" : "s", RanksInWords(host.ranks), answer.reached,
                      answer.took_s),
          ""};
}

Result<std::vector<DoctorFinding>> InspectHosts(const std::string& path) {
  SLIM_ASSIGN(const auto hosts, ReadHosts(path));
  std::error_code failed;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  SLIM_ASSIGN(const auto own, RunChild({"sha256sum", program}, kAnswerLimitS));
  const std::string checksum = own.out.substr(0, own.out.find(' '));
  SLIM_ASSIGN(const UniqueFd listener, ListenTcp("0.0.0.0"));
  const std::string questions = Questions(program, LocalAddress(listener.get()).port());
  std::vector<DoctorFinding> findings;
  for (const HostLine& host : hosts) {
    findings.push_back(JudgeHost(host, Ask(host.name, questions), program, checksum));
  }
  return findings;
}

}  // namespace slimgraph
