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

}  // namespace gapless
