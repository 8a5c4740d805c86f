// SPDX-License-Identifier: Apache-2.0
#include "dfcl/report/results/free_parts.h"

namespace dfcl::report {

static const Described<FigurePoint>& description(Of<FigurePoint>) {
  static const auto point =
      Described<FigurePoint>("FigurePoint", "A point of a series.")
          .field("x", &FigurePoint::x, "place: a number, or a text on a `category` axis")
          .field(
              "y", [](const FigurePoint& at) { return at.y.value; }, "height")
          .field(
              "low", [](const FigurePoint& at) { return at.y.low; }, "lower end of its interval")
          .field(
              "high", [](const FigurePoint& at) { return at.y.high; }, "upper end of its interval");
  return point;
}

static const Described<FigureSeries>& description(Of<FigureSeries>) {
  static const auto series =
      Described<FigureSeries>("FigureSeries", "A line of points, or bars.")
          .field("name", &FigureSeries::name, "a series that has the name of a model has its colour and its switch")
          .field("points", &FigureSeries::points, "in the order they are joined");
  return series;
}

const Described<Figure>& description(Of<Figure>) {
  static const auto figure =
      Described<Figure>("Figure", "A chart that is drawn as it stands.")
          .field("id", &Figure::id, "one word for programs")
          .field("title", &Figure::title, "heading")
          .field("note", &Figure::note, "sentences under the heading")
          .field("x_label", &Figure::x_label, "name of the horizontal axis")
          .field("y_label", &Figure::y_label, "name of the vertical axis")
          .field_as("x_scale", choice_schema({"linear", "log", "category"}), &Figure::x_scale, "of the horizontal axis")
          .field_as("kind", choice_schema({"line", "bar", "points"}), &Figure::kind, "how the series are drawn")
          .field("series", &Figure::series, "what is drawn")
          .maybe(
              "panels", [](const Figure& one) { return one.panels ? std::optional(true) : std::nullopt; },
              "true: every series but the first has a panel of its own, and the first is a line across them");
  return figure;
}

const Described<Table>& description(Of<Table>) {
  static const auto table = Described<Table>("Table", "A table that is shown as it stands.")
                                .field("id", &Table::id, "one word for programs")
                                .field("title", &Table::title, "heading")
                                .field("note", &Table::note, "sentences under the heading")
                                .field("columns", &Table::columns, "their titles")
                                .field_as("rows", list_schema(list_schema(number_or_text_schema())), &Table::rows,
                                          "a text or a number for each column");
  return table;
}

}  // namespace dfcl::report
