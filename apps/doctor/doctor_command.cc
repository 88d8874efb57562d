#include "apps/commands.h"

#include <memory>

#include "apps/doctor/doctor.h"
#include "apps/doctor/doctor_hosts.h"
#include "apps/job/job_runner.h"
#include "apps/print.h"
#include "slimgraph/stats/report.h"

namespace slimgraph {
namespace {

std::string VerdictName(DoctorFinding::Verdict verdict) {
  switch (verdict) {
    case DoctorFinding::Verdict::kGood:
      return "good";
    case DoctorFinding::Verdict::kNote:
      return "note";
    default:
      return "bad";
  }
}

std::string AsJson(const std::vector<DoctorFinding>& findings) {
  Report report("doctor");
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const std::string path = fmt::format("/result/findings/{}", i);
    report.Set(path + "/subject", findings[i].subject);
    report.Set(path + "/verdict", VerdictName(findings[i].verdict));
    report.Set(path + "/what", findings[i].what);
    if (!findings[i].mend.empty()) report.Set(path + "/mend", findings[i].mend);
  }
  return ToJson(report) + "\n";
}

}  // namespace

Command DoctorCommand() {
  struct State {
    std::string hosts;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options
        .Text("--hosts", "FILE",
              "check instead whether the hosts in FILE (mpiexec -f FILE) can run one job: names, "
              "ssh, the same program, connections, clocks",
              state->hosts)
        .Default("check this machine");
    options.Flag("--json", "the findings as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) {
    const auto findings = state->hosts.empty()
                              ? Result<std::vector<DoctorFinding>>(InspectMachine())
                              : InspectHosts(state->hosts);
    if (!findings) return PrintError(findings.error());
    return Print(state->json ? AsJson(*findings) : FormatFindings(*findings),
                 DoctorExitCode(*findings));
  };
  return {"doctor", "what this machine can do, and what mends what it cannot", declare, run};
}

}  // namespace slimgraph
