// Whether measured results are right. This is checked outside the measured runs: by a separate run
// if the command has --verify, by the report itself, or by comparison with other points.
#pragma once

#include "experiment/results.h"
#include "experiment/study.h"

namespace slimgraph::experiment {

// Whether the point's command has the option --verify.
bool CanVerify(const Point& point);

// Points that count the same on the same graph with different settings must agree. If they agree,
// they verify each other; otherwise all of them fail.
void CompareResults(const Study& study, Results& results);

// Says how many of the measured points were verified.
std::string VerifiedInWords(const Study& study, const Results& results);

}  // namespace slimgraph::experiment
