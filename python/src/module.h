// The parts of the module. Each adds its classes and functions.
#pragma once

#include <nanobind/nanobind.h>

namespace slimgraph::python {

void BindSession(nanobind::module_& module);
void BindAlgorithms(nanobind::module_& module);
void BindPatterns(nanobind::module_& module);
void BindStores(nanobind::module_& module);

}  // namespace slimgraph::python
