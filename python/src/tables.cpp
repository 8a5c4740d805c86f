// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "dfcl/core/error.h"
#include "dfcl/data/prediction_facts.h"
#include "dfcl/io/tables/batch_stream.h"
#include "dfcl/io/tables/memory_table.h"
#include "dfcl/io/tables/table_writer.h"
#include "dfcl/verbs/predict.h"

namespace nb = nanobind;

namespace dfcl::python {
namespace {

constexpr const char* kStreamName = "arrow_array_stream";

using Array = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

io::MemoryColumn::Type type_of(const nb::dlpack::dtype& type) {
  using Type = io::MemoryColumn::Type;
  const auto code = static_cast<nb::dlpack::dtype_code>(type.code);
  const auto pick = [&](Type one, Type two, Type four, Type eight) {
    return type.bits == 8 ? one : type.bits == 16 ? two : type.bits == 32 ? four : eight;
  };
  if (code == nb::dlpack::dtype_code::Int) return pick(Type::int8, Type::int16, Type::int32, Type::int64);
  if (code == nb::dlpack::dtype_code::UInt) return pick(Type::uint8, Type::uint16, Type::uint32, Type::uint64);
  if (code == nb::dlpack::dtype_code::Float && type.bits == 32) return Type::float32;
  if (code == nb::dlpack::dtype_code::Float && type.bits == 64) return Type::float64;
  throw nb::type_error("a column must hold whole numbers, float32 or float64");
}

// values: an array of numbers, or a list of texts in which None is missing.
io::MemoryColumn column_of(const std::string& name, nb::handle values, std::size_t& num_rows) {
  io::MemoryColumn column;
  column.name = name;
  if (nb::isinstance<nb::list>(values)) {
    const nb::list texts = nb::borrow<nb::list>(values);
    for (nb::handle text : texts) column.texts.push_back(text.is_none() ? std::string() : nb::cast<std::string>(text));
    num_rows = texts.size();
    return column;
  }
  const auto array = std::make_shared<Array>(nb::cast<Array>(values));
  column.type = type_of(array->dtype());
  column.values = array->data();
  column.owner = array;
  num_rows = array->shape(0);
  return column;
}

// Of times that are whole numbers, what they are: "M8[ns]", "m8[us]", as NumPy calls it; else "".
void set_time(io::MemoryColumn& column, const std::string& time) {
  using Unit = io::MemoryColumn::Unit;
  if (time.empty()) return;
  column.time = time.front() == 'M' ? io::MemoryColumn::Time::instant : io::MemoryColumn::Time::span;
  column.unit = time.ends_with("[ns]")   ? Unit::nanosecond
                : time.ends_with("[us]") ? Unit::microsecond
                : time.ends_with("[ms]") ? Unit::millisecond
                                         : Unit::second;
}

// Its name, its values and what they count.
using NamedColumn = nb::typed<nb::tuple, nb::str, nb::object, nb::str>;

std::unique_ptr<io::MemoryTable> table_of_columns(const nb::typed<nb::list, NamedColumn>& columns,
                                                  const std::string& label) {
  std::vector<io::MemoryColumn> made;
  std::size_t num_rows = 0;
  for (nb::handle entry : columns) {
    std::size_t rows = 0;
    made.push_back(column_of(nb::cast<std::string>(entry[0]), entry[1], rows));
    set_time(made.back(), nb::cast<std::string>(entry[2]));
    if (made.size() > 1 && rows != num_rows) {
      throw core::Error({.kind = core::ErrorKind::data,
                         .what = "columns of different lengths",
                         .where = "<" + label + ">, column '" + made.back().name + "'",
                         .found = std::to_string(rows) + " rows",
                         .expected = std::to_string(num_rows)});
    }
    num_rows = rows;
  }
  return std::make_unique<io::MemoryTable>(std::move(made), num_rows, label);
}

std::unique_ptr<io::MemoryTable> table_of_stream(const nb::capsule& capsule, const std::string& label) {
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), kStreamName));
  if (stream == nullptr) throw nb::python_error();
  const nb::gil_scoped_release release;  // the other side may want it
  return std::make_unique<io::MemoryTable>(stream, label);
}

std::unique_ptr<io::MemoryTable> table_of_array(const nb::capsule& schema, const nb::capsule& array,
                                                const std::string& label) {
  auto* of_schema = static_cast<ArrowSchema*>(PyCapsule_GetPointer(schema.ptr(), "arrow_schema"));
  auto* of_array = static_cast<ArrowArray*>(PyCapsule_GetPointer(array.ptr(), "arrow_array"));
  if (of_schema == nullptr || of_array == nullptr) throw nb::python_error();
  const nb::gil_scoped_release release;
  return std::make_unique<io::MemoryTable>(of_schema, of_array, label);
}

// Shares the memory, which lives as long as `owner` does.
using Numbers = nb::ndarray<nb::numpy, const float, nb::ndim<2>>;
Numbers matrix_to_numpy(const core::Matrix<float>& matrix, nb::handle owner) {
  return Numbers(matrix.data(), {matrix.rows(), matrix.cols()}, owner);
}

// The array owns the numbers.
template <class Number>
nb::object to_numpy(std::vector<Number> values) {
  auto* kept = new std::vector<Number>(std::move(values));
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<Number>*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, Number, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

void bind_prediction(nb::module_& module) {
  nb::class_<PredictionTable>(module, "Prediction")
      .def_prop_ro("arms", [](const PredictionTable& self) { return self.prediction->arms.labels; })
      .def_prop_ro("control",
                   [](const PredictionTable& self) {
                     const data::Arms& arms = self.prediction->arms;
                     return arms.labels[arms.control];
                   })
      .def_prop_ro("is_index", [](const PredictionTable& self) { return self.prediction->is_index; })
      .def_prop_ro("model", [](const PredictionTable& self) { return self.prediction->model; })
      .def_prop_ro("method", [](const PredictionTable& self) { return self.prediction->method; })
      .def_prop_ro("price", [](const PredictionTable& self) { return self.prediction->price; })
      .def_prop_ro("num_units", [](const PredictionTable& self) { return self.prediction->num_units(); })
      .def_prop_ro("revenue",
                   [](nb::handle_t<PredictionTable> self) {
                     return matrix_to_numpy(nb::cast<const PredictionTable&>(self).prediction->revenue, self);
                   })
      .def_prop_ro("cost",
                   [](nb::handle_t<PredictionTable> self) {
                     return matrix_to_numpy(nb::cast<const PredictionTable&>(self).prediction->cost, self);
                   })
      .def_prop_ro("extra", [](const PredictionTable& self) { return column_names(self.prediction->extra.columns); })
      .def_prop_ro("ids", [](const PredictionTable& self) { return ids_to_python(self.prediction->ids); })
      .def_prop_ro("options",
                   [](const PredictionTable& self) {
                     nb::typed<nb::dict, nb::str, nb::str> options;
                     for (const auto& [name, value] : self.provenance.options) options[name.c_str()] = value;
                     return options;
                   })
      .def("stream",
           [](const PredictionTable& self) {
             return stream_capsule(data::batches_of(self.prediction),
                                   data::with_facts(self.provenance, *self.prediction));
           })
      .def("write", [](const PredictionTable& self, const std::string& path) {
        const nb::gil_scoped_release release;
        verbs::write_prediction(path, *self.prediction, self.provenance);
      });
}

void bind_plain(nb::module_& module) {
  nb::class_<PlainTable>(module, "Table")
      .def_prop_ro("column_names", [](const PlainTable& self) { return column_names(self.table->columns); })
      .def_prop_ro("num_rows",
                   [](const PlainTable& self) {
                     std::size_t rows = 0;
                     for (const data::Batch& batch : self.table->batches) rows += batch.num_rows;
                     return rows;
                   })
      .def("stream",
           [](const PlainTable& self) { return stream_capsule(data::batches_of(self.table), self.provenance); })
      .def("write", [](const PlainTable& self, const std::string& path) {
        const nb::gil_scoped_release release;
        io::TableWriter writer(path, self.table->columns, self.provenance);
        for (const data::Batch& batch : self.table->batches) writer.write(batch);
        writer.commit();
      });
}

}  // namespace

std::vector<std::string> column_names(const std::vector<data::ColumnInfo>& columns) {
  std::vector<std::string> names;
  for (const data::ColumnInfo& column : columns) names.push_back(column.name);
  return names;
}

nb::object stream_capsule(std::unique_ptr<data::BatchSource> source, const data::Provenance& provenance) {
  ArrowArrayStream* stream = io::new_stream(std::move(source), provenance);
  PyObject* capsule = PyCapsule_New(stream, kStreamName, [](PyObject* object) {
    io::delete_stream(static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(object, kStreamName)));
  });
  return nb::steal(capsule);
}

nb::object ids_to_python(const data::Ids& ids) {
  if (ids.texts() != nullptr) {
    nb::list texts;
    for (std::size_t unit = 0; unit < ids.size(); ++unit) texts.append(ids.text(unit));
    return texts;
  }
  if (const auto* numbers = ids.unsigned_numbers()) return to_numpy(numbers->to_vector());
  std::vector<std::int64_t> numbers(ids.size());
  for (std::size_t unit = 0; unit < ids.size(); ++unit) numbers[unit] = ids.number(unit);
  return to_numpy(std::move(numbers));
}

void bind_tables(nb::module_& module) {
  nb::class_<io::MemoryTable>(module, "MemoryTable")
      .def_static("from_stream", &table_of_stream, nb::arg("capsule"), nb::arg("label"))
      .def_static("from_array", &table_of_array, nb::arg("schema"), nb::arg("array"), nb::arg("label"))
      .def_static("from_columns", &table_of_columns, nb::arg("columns"), nb::arg("label"))
      .def_prop_ro("path", &io::MemoryTable::path)
      .def_prop_ro("num_rows", &io::MemoryTable::num_rows)
      .def_prop_ro("column_names", &io::MemoryTable::column_names);
  bind_prediction(module);
  bind_plain(module);
}

}  // namespace dfcl::python
