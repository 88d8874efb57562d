// The studies, one per file.
#pragma once

#include "experiment/study.h"

namespace slimgraph::experiment {

Study Overall(const Settings& settings);
Study Elasticity(const Settings& settings);
Study Scalability(const Settings& settings);
Study Caches(const Settings& settings);
Study Volume(const Settings& settings);
Study Protocols(const Settings& settings);
Study Stages(const Settings& settings);
Study Coroutines(const Settings& settings);
Study Contention(const Settings& settings);
Study Computation(const Settings& settings);
Study QueuePairs(const Settings& settings);
Study Updates(const Settings& settings);

}  // namespace slimgraph::experiment
