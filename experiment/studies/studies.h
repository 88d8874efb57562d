// The studies, one a file.
#pragma once

#include "experiment/study.h"

namespace slimgraph::experiment {

Study Elasticity(const Settings& settings);

}  // namespace slimgraph::experiment
