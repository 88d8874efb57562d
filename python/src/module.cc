// The native module of the package `slimgraph`. Python code in the package gives it its face.
#include "python/src/module.h"

#include <nanobind/stl/optional.h>

#include "python/src/await.h"

namespace slimgraph::python {
namespace {

namespace nb = nanobind;

constexpr const char* kClasses[] = {"Error", "VerificationError", "UsageError", "InputError",
                                    "JobError"};

}  // namespace

void Throw(const Error& error) {
  const auto kind = static_cast<std::size_t>(error.kind);
  const nb::object type = nb::module_::import_("slimgraph.errors").attr(kClasses[kind]);
  PyErr_SetString(type.ptr(), error.message.c_str());
  throw nb::python_error();
}

bool HandleSignals(unsigned intervals, Share done) {
  if (PyErr_CheckSignals() != 0) return false;
  if (intervals % kIntervalsOfProgress != 0) return true;
  try {
    const double seconds = std::chrono::duration<double>(intervals * kSignalInterval).count();
    nb::module_::import_("slimgraph._progress").attr("tick")(seconds, done);
  } catch (nb::python_error& error) {
    error.restore();
    return false;
  }
  return true;
}

}  // namespace slimgraph::python

NB_MODULE(_native, module) {
  nanobind::set_leak_warnings(false);
  module.attr("version") = SLIMGRAPH_VERSION;
  slimgraph::python::BindSession(module);
  slimgraph::python::BindAlgorithms(module);
  slimgraph::python::BindPatterns(module);
  slimgraph::python::BindStores(module);
}
