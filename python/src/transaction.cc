#include "python/src/transaction.h"

#include <nanobind/stl/string.h>

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "python/src/arrays.h"
#include "python/src/module.h"

namespace slimgraph::python {
namespace {

namespace nb = nanobind;

nb::bytes BytesOf(const std::vector<std::byte>& bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

std::span<const std::byte> SpanOf(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

EdgeSide SideOf(bool incoming) { return incoming ? EdgeSide::kIncoming : EdgeSide::kOutgoing; }

nb::tuple EdgeOf(Transaction& transaction, std::uint64_t from, std::uint64_t to) {
  const EdgeData edge = transaction.Do([&](WriteTransaction& t) { return t.Edge(from, to); });
  return nb::make_tuple(edge.weight, BytesOf(edge.properties));
}

ArrayOut<std::uint64_t> NeighboursOf(Transaction& transaction, std::uint64_t vertex,
                                     bool incoming) {
  return ArrayOf(
      transaction.Do([&](WriteTransaction& t) { return t.Neighbours(vertex, SideOf(incoming)); }));
}

// Python's integers have any size; those beyond 64 bits are rounded.
long double NumberOf(const nb::handle& number) {
  if (!PyLong_Check(number.ptr())) return nb::cast<double>(number);
  int overflow = 0;
  const long long whole = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) return static_cast<long double>(whole);
  const unsigned long long positive = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() == nullptr) return static_cast<long double>(positive);
  PyErr_Clear();
  const double rounded = PyLong_AsDouble(number.ptr());
  if (PyErr_Occurred() == nullptr) return rounded;
  PyErr_Clear();
  return overflow < 0 ? -HUGE_VALL : HUGE_VALL;
}

ArrayOut<std::uint64_t> FindVerticesOf(Transaction& transaction, const std::string& index,
                                       const nb::object& first, const nb::object& last) {
  const long double from = NumberOf(first), to = NumberOf(last);
  return ArrayOf(
      transaction.Do([&](WriteTransaction& t) { return t.FindVertices(index, from, to); }));
}

// Arrays of ids, weights, properties (a row for each neighbour) and times.
nb::tuple NeighboursWithDataOf(Transaction& transaction, std::uint64_t vertex, bool incoming,
                               bool newest_first, std::uint64_t most, std::uint64_t from,
                               std::uint64_t to) {
  const NeighbourChoice choice{
      .side = SideOf(incoming), .newest_first = newest_first, .most = most, .from = from, .to = to};
  const auto found =
      transaction.Do([&](WriteTransaction& t) { return t.NeighboursWithData(vertex, choice); });
  std::vector<std::uint64_t> ids, times;
  std::vector<double> weights;
  std::vector<std::uint8_t> properties;
  for (const StoredNeighbour& one : found) {
    ids.push_back(one.id);
    times.push_back(one.time);
    weights.push_back(one.data.weight);
    for (const std::byte byte : one.data.properties) {
      properties.push_back(std::to_integer<std::uint8_t>(byte));
    }
  }
  const std::uint8_t* const data = properties.data();
  const std::size_t rows = found.size(), columns = rows == 0 ? 0 : properties.size() / rows;
  const ArrayOut<std::uint8_t> table(data, {rows, columns}, OwnerOf(std::move(properties)));
  return nb::make_tuple(ArrayOf(std::move(ids)), ArrayOf(std::move(weights)), table,
                        ArrayOf(std::move(times)));
}

}  // namespace

void ThrowAborted(const Error& error) {
  const nb::object type = nb::module_::import_("slimgraph.errors").attr("AbortedError");
  PyErr_SetString(type.ptr(), error.message.c_str());
  throw nb::python_error();
}

void Transaction::CheckUsable() const {
  if (transaction_ == nullptr) {
    Throw({ErrorKind::kUsage,
           "the transaction has ended: it can be used only until its function returns"});
  }
  if (PyThread_get_thread_ident() != thread_) {
    Throw(
        {ErrorKind::kUsage, "a transaction can be used only by the thread that runs its function"});
  }
  // A cancelled call may wait for the function.
  if (nodes_->cancelled()) {
    ThrowAborted({ErrorKind::kEnvironment, "the transaction was aborted: its session has ended"});
  }
}

void BindTransaction(nb::module_& module) {
  using T = Transaction;
  using W = WriteTransaction;
  using Id = std::uint64_t;
  nb::class_<T>(module, "Transaction")
      .def("has_vertex",
           [](T& t, Id vertex) { return t.Do([=](W& w) { return w.HasVertex(vertex); }); })
      .def("has_edge",
           [](T& t, Id from, Id to) { return t.Do([=](W& w) { return w.HasEdge(from, to); }); })
      .def("vertex_properties",
           [](T& t, Id vertex) {
             return BytesOf(t.Do([=](W& w) { return w.VertexProperties(vertex); }));
           })
      .def("edge", &EdgeOf)
      .def("degree",
           [](T& t, Id vertex, bool incoming) {
             return t.Do([=](W& w) { return w.Degree(vertex, SideOf(incoming)); });
           })
      .def("neighbours", &NeighboursOf)
      .def("neighbours_with_data", &NeighboursWithDataOf)
      .def("find_vertices", &FindVerticesOf)
      .def("add_vertex",
           [](T& t, Id vertex, const nb::bytes& properties) {
             const auto span = SpanOf(properties);
             return t.Do([=](W& w) { return w.AddVertex(vertex, span); });
           })
      .def("set_vertex",
           [](T& t, Id vertex, const nb::bytes& properties) {
             const auto span = SpanOf(properties);
             t.Do([=](W& w) { return w.SetVertex(vertex, span); });
           })
      .def("remove_vertex",
           [](T& t, Id vertex) { return t.Do([=](W& w) { return w.RemoveVertex(vertex); }); })
      .def("add_edge",
           [](T& t, Id from, Id to, double weight, const nb::bytes& properties) {
             const auto span = SpanOf(properties);
             const EdgeData data{.weight = weight, .properties = {span.begin(), span.end()}};
             t.Do([&](W& w) { return w.AddEdge(from, to, data); });
           })
      .def("remove_edge",
           [](T& t, Id from, Id to) { return t.Do([=](W& w) { return w.RemoveEdge(from, to); }); });
}

}  // namespace slimgraph::python
