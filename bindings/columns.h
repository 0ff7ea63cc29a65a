// Vectors of the core as numpy arrays: read-only views without a copy, which keep their owner alive.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace gapless {

namespace nb = nanobind;

template <class T>
using Column = nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::device::cpu>;

// A column of `owner` as an array without a copy.
template <class T, class Stored>
Column<T> view(const std::vector<Stored>& items, nb::handle owner) {
  static_assert(sizeof(T) == sizeof(Stored));
  return Column<T>(reinterpret_cast<const T*>(items.data()), {items.size()}, owner);
}

// `signature` is what the stub shows.
template <class T, class Owner, class Stored>
void def_column(nb::class_<Owner>& cls, const char* name, std::vector<Stored> Owner::* member, const char* signature,
                const char* doc) {
  const auto get = [member](nb::handle_t<Owner> self) { return view<T>(nb::cast<const Owner&>(self).*member, self); };
  cls.def_prop_ro(name, get, nb::sig(signature), doc);
}

// One field of a C++ struct for numpy: "u8" at its place.
struct Field {
  const char* name;
  const char* format;
  std::size_t offset;
};

// Structs as a structured array whose fields have the names, types and places that the compiler gave them.
template <class Owner, class Row>
nb::object structured(const std::vector<Row>& rows, nb::handle owner, std::initializer_list<Field> fields) {
  nb::list names, formats, offsets;
  for (const Field& field : fields) {
    names.append(field.name);
    formats.append(field.format);
    offsets.append(field.offset);
  }
  nb::dict layout;
  layout["names"] = names;
  layout["formats"] = formats;
  layout["offsets"] = offsets;
  layout["itemsize"] = sizeof(Row);
  const nb::object dtype = nb::module_::import_("numpy").attr("dtype")(layout);
  const Column<std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(rows.data()), {rows.size() * sizeof(Row)},
                                   owner);
  return nb::cast(bytes).attr("view")(dtype);
}

}  // namespace gapless
