// What this machine can do for SlimGraph, and what stands in the way: each finding with the command
// that mends it. The judgements are in doctor_checks.h.
#pragma once

#include <string>
#include <vector>

namespace slimgraph {

struct DoctorFinding {
  enum class Verdict { kGood, kNote, kBad };

  std::string subject;
  Verdict verdict = Verdict::kGood;
  std::string what;
  std::string mend;  // a command or what to do; empty where nothing needs it
};

// Looks at this machine. Takes well under a second, needs no rights and changes nothing.
std::vector<DoctorFinding> Examine();

// For people: a line for each finding, a second one for what mends it, and a last one that sums up.
std::string Describe(const std::vector<DoctorFinding>& findings);

// 0, or 4 (the environment) when something is bad.
int DoctorExitCode(const std::vector<DoctorFinding>& findings);

}  // namespace slimgraph
