"""The scanners that the limits on sizes rest on."""

from __future__ import annotations

import textwrap

from tests.repo.functions import Function, cpp_functions, python_functions


def test_python_lines_leave_out_docstring_and_head() -> None:
    text = textwrap.dedent('''
        class A:
            def f(self, a, *, b=1):
                """One.

                More.
                """
                x = (
                    a
                )
                return x
    ''')

    assert list(python_functions(text)) == [Function("f", 3, 4, 2)]


def test_cpp_functions_are_found_in_namespaces_and_classes() -> None:
    text = textwrap.dedent("""
        namespace gapless {
        enum class E : int { kA, kB };
        struct S {
          int x{1};
          std::vector<int> v = {1, 2};
          S(int a, int b) : x(a), y{b} {
            f();
          }
          bool operator()(int a) const { return a; }
          ~S() override {}
        };
        template <class T, class U>
        auto f(std::map<T, U> a, void (*call)(int, int), int c = g(1, 2)) -> std::pair<int, T> {
          if (a) {
            for (;;) { }
          }
          auto inner = [&](int z) { return z; };
        }
        constexpr int kTable[] = {f(1), f(2)};
        int declared(int a);
        }
    """)

    assert list(cpp_functions(text)) == [
        Function("S", 7, 3, 2),
        Function("operator()", 10, 1, 1),
        Function("~S", 11, 1, 0),
        Function("f", 13, 6, 3),
    ]


def test_cpp_braces_in_text_do_not_count() -> None:
    text = textwrap.dedent(r"""
        // void comment() {
        #define MACRO(x) void x() { \
          more }
        int f() {
          auto a = "}"; auto b = '}'; auto c = R"(})"; auto d = 1'000'000;
          /* } */ return '\'';
        }
        int g() noexcept { return 1; }
    """)

    assert list(cpp_functions(text)) == [Function("f", 5, 4, 0), Function("g", 9, 1, 0)]
