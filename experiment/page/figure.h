// A plot as data. svg.cc draws it, and page.cc prints it as a table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/spread.h"

namespace slimgraph::experiment {

enum class PlotKind {
  kBars,    // categories along x; each has a bar of each series
  kLines,   // numbers along x
  kScatter  // numbers along both
};

struct Mark {
  double x = 0;  // for bars, the index of the category
  Spread y;
  std::string label;      // names the mark if x does not
  bool labelled = false;  // scatter plots: the label is drawn
};

struct Series {
  std::string name;
  std::vector<Mark> marks;
  std::size_t style = 0;  // colour and shape; the same for the same thing in all plots
};

// A value for comparison that was not measured: an ideal, or a paper's result. It is a range if low
// and high differ.
struct Reference {
  std::string name;
  double low = 0;
  double high = 0;
  std::optional<double> x = {};            // bars: its category; otherwise all
  std::optional<std::size_t> series = {};  // bars: the series, of that category or of all
};

struct Plot {
  PlotKind kind = PlotKind::kBars;
  std::string x_title;
  std::string y_title;
  std::vector<std::string> categories;
  std::vector<Series> series;
  std::vector<Reference> references;
  bool log_x = false;
  bool log_y = false;
};

struct Figure {
  std::string title;
  std::string answer;  // one sentence: the main finding
  Plot plot;

  bool empty() const {
    for (const Series& series : plot.series) {
      if (!series.marks.empty()) return false;
    }
    return true;
  }
};

}  // namespace slimgraph::experiment
