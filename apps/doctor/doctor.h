// Checks what this machine can do for SlimGraph. Each finding about a problem comes with the
// command that mends it. The judgements are in doctor_checks.h.
#pragma once

#include <string>
#include <vector>

namespace slimgraph {

struct DoctorFinding {
  enum class Verdict { kGood, kNote, kBad };

  std::string subject;
  Verdict verdict = Verdict::kGood;
  std::string what;
  std::string mend;  // a command, or what to do; "": nothing to do
};

// Inspects this machine. Takes well under a second, needs no privileges and changes nothing.
std::vector<DoctorFinding> InspectMachine();

// The findings as text: a line for each, a second line with what mends it, and a line with counts.
std::string FormatFindings(const std::vector<DoctorFinding>& findings);

// 0, or 4 (the environment) when something is bad.
int DoctorExitCode(const std::vector<DoctorFinding>& findings);

}  // namespace slimgraph
