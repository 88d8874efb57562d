#include "apps/job/phases.h"

#include "apps/command.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/split.h"

namespace slimgraph {

Result<std::vector<ComputeFrom>> ParseComputeSchedule(const std::string& text) {
  std::vector<ComputeFrom> schedule;
  if (text.empty()) return UsageError("give NODES@STEP,..., such as 4@0,1@8");
  for (const std::string_view part : Split(text)) {
    const std::size_t at = part.find('@');
    const auto compute = ParseNumber<NodeId>(part.substr(0, at));
    const auto step = at == std::string_view::npos
                          ? compute.map([](NodeId) { return std::uint64_t{0}; })
                          : ParseNumber<std::uint64_t>(part.substr(at + 1));
    const bool ascends = schedule.empty() || (step && *step > schedule.back().step);
    if (at == std::string_view::npos || !compute || !step || *compute == 0 || !ascends) {
      return UsageError("'{}': give NODES@STEP,... in ascending order of steps, such as 4@0,1@8",
                        part);
    }
    schedule.push_back({*compute, *step});
  }
  return schedule;
}

double Phases::SecondsUntil(std::uint64_t next_began_ns) const {
  if (all.empty()) return 0;
  double seconds = static_cast<double>(next_began_ns - ended_ns) * 1e-9;
  for (const Phase& phase : all) seconds += phase.stall_s + phase.run_s;
  return seconds;
}

void Phases::AddLost(NodeId compute) {
  const std::uint64_t now = NowNs();
  const std::uint64_t began = began_ns == 0 ? now : began_ns;
  const auto seconds = [](std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(to - from) * 1e-9;
  };
  all.push_back({.compute = compute,
                 .first_step = first_step,
                 .stall_s = all.empty() ? 0 : seconds(ended_ns, began),
                 .run_s = seconds(began, now),
                 .lost = true});
  ended_ns = now;
  began_ns = 0;
  first_step = handover.waiting_step();
}

void Phases::Set(Report& report) const {
  const auto set = [&](const char* name, auto of) {
    std::vector<decltype(of(Phase()))> values;
    for (const Phase& phase : all) values.push_back(of(phase));
    report.Set(std::string("/phases/") + name, values);
  };
  set("compute", [](const Phase& phase) { return std::uint64_t{phase.compute}; });
  set("first_step", [](const Phase& phase) { return phase.first_step; });
  set("stall_s", [](const Phase& phase) { return phase.stall_s; });
  set("run_s", [](const Phase& phase) { return phase.run_s; });
  set("compute_cpu_s", [](const Phase& phase) { return phase.compute_cpu_s; });
  set("handed_over_bytes", [](const Phase& phase) { return phase.handed_over_bytes; });
  set("bytes", [](const Phase& phase) { return phase.bytes; });
  set("lost", [](const Phase& phase) { return std::uint64_t{phase.lost ? 1U : 0U}; });
  if (!handover.step_seconds().empty()) report.Set("/steps/seconds", handover.step_seconds());
}

}  // namespace slimgraph
