// The page of an experiment: one HTML file that needs nothing else, no script, no network; light
// and dark, on screen and on paper.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiment/page/figure.h"

namespace slimgraph::experiment {

struct Section {
  std::string name;
  std::string title;
  std::string question;
  std::vector<std::string> notes;  // how it was done
  std::vector<Figure> figures;
  std::vector<std::string> missing;  // what was not measured, and why
  std::vector<std::string> commands;
};

struct Page {
  std::string title;
  std::vector<std::string> summary;                        // what was emulated, what is left
  std::vector<std::pair<std::string, std::string>> facts;  // the machine, the commit, …
  std::vector<Section> sections;
};

std::string ToHtml(const Page& page);

// A figure's plot alone, as a file that any viewer of pictures shows.
std::string ToSvgFile(const Figure& figure);

// A figure's numbers: a row for each mark.
std::string ToCsv(const Figure& figure);

}  // namespace slimgraph::experiment
