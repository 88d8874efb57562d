#include "experiment/studies/studies.h"

namespace slimgraph::experiment {

const std::vector<StudyKind>& AllStudies() {
  static const std::vector<StudyKind> all = {
      {"overall", "(N,N) beside engines built without memory nodes (make plain)", Overall},
      {"elasticity", "time, bytes, memory and processor time at (N,C) for C = N .. 1", Elasticity},
      {"scalability", "the same job on (2,1), (4,2) and (8,4)", Scalability},
      {"caches", "none, bitmap, index, edge; edge-cache budgets from 0 to 100 %", Caches},
      {"volume", "bytes per edge that mining moves, by what it reuses", Volume},
      {"protocols", "six protocols, by messages, one-sided and mixed, on three workloads",
       Protocols},
      {"stages", "the latency of each stage, and every mix of stages as a point", Stages},
      {"coroutines", "transactions by the number of coroutines of a thread", Coroutines},
      {"contention", "transactions by the share of accesses to hot tuples", Contention},
      {"computation", "transactions by how much they compute", Computation},
      {"queue-pairs", "one-sided operations by the queue pairs to each node (verbs)", QueuePairs},
      {"updates", "transactions that change a graph, beside analytics on its snapshots", Updates},
  };
  return all;
}

}  // namespace slimgraph::experiment
