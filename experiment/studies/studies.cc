#include "experiment/studies/studies.h"

namespace slimgraph::experiment {

const std::vector<StudyKind>& AllStudies() {
  static const std::vector<StudyKind> all = {
      {"elasticity", "time, bytes, memory and processor time at (N,C) for C = N .. 1", Elasticity},
  };
  return all;
}

}  // namespace slimgraph::experiment
