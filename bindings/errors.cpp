// C++ errors become the Python types of gapless.errors, with their fields.
#include "base/error.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings.h"

namespace nb = nanobind;

namespace gapless {
namespace {

void raise(const char* type, const char* message, const nb::dict& fields) {
  nb::object cls = nb::module_::import_("gapless.errors").attr(type);
  nb::object error = cls(message, **fields);
  PyErr_SetObject(cls.ptr(), error.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const FormatError& e) {
    nb::dict fields;
    fields["offset"] = e.offset;
    fields["path"] = e.path;
    fields["hint"] = e.hint;
    raise("FormatError", e.what(), fields);
  } catch (const TraceError& e) {
    nb::dict fields;
    fields["event"] = e.event;
    raise("TraceError", e.what(), fields);
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate, nullptr); }

}  // namespace gapless
