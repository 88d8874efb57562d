// When the edge cache takes the lists that a program reads.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph::dgemini {

// While it lives, the edge cache takes lists when `admission` says. Otherwise it takes them at
// once.
class CachingScope {
 public:
  CachingScope(Engine& engine, Admission admission) : engine_(engine) { Change(admission); }
  CachingScope(const CachingScope&) = delete;
  CachingScope& operator=(const CachingScope&) = delete;
  ~CachingScope() { Change(Admission::kAtOnce); }

  void Change(Admission admission) { engine_.SetAdmission(admission); }

 private:
  Engine& engine_;
};

}  // namespace slimgraph::dgemini
