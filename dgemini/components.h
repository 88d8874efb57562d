// Connected components, of a directed graph the weak ones: the smallest vertex of each vertex's
// component.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph {

Result<VertexArray<VertexId>> Components(Engine& engine, bool directed);

}  // namespace slimgraph
