"""True values for small tensors: masks, counters, loop conditions, labels, loss scales.

The pretend card's memory can be read and written by the process, so an operator whose tensors are all small is run once
more on the CPU, over the same memory. It is seen by PyTorch's dispatcher under a key below autograd and above the CUDA
kernels, which nothing else uses; so autograd decides exactly as it would without us, and the CUDA kernel still makes
the allocations that it always makes.

    aten::add -> autocast -> autograd -> [here] -> CUDA kernel   allocates, launches nothing that computes
                                            `----> CPU kernel    over views of the same memory

What is not computed is not known: the card keeps which bytes hold true values. Where a program reads others, the place
in the user's code is noted, with what was assumed.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from gapless.virtual.assumptions import Assumptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gapless.virtual.control import Control

_KEY = "Fake"
"""A dispatch key of PyTorch without any kernels of its own."""
MOST_ELEMENTS = 1 << 16
"""Of a small tensor."""
_MOST_BYTES = 1 << 19
"""That the elements of a small tensor may span."""
_LEFT_TO_THE_CARD = {
    "aten::_to_copy",
    "aten::copy_",
    "aten::empty",
    "aten::empty_strided",
    "aten::empty_like",
    "aten::new_empty",
    "aten::new_empty_strided",
    "aten::record_stream",
    "aten::set_",
    "aten::resize_",
    "aten::_resize_output_",
    "aten::_pin_memory",
}
"""Copies are made by the card itself; the others write no values."""
_SCALERS_CHECKS = {"aten::_amp_foreach_non_finite_check_and_unscale_"}
"""What GradScaler asks about gradients: whether all are finite."""
_VIEWS_UNSAID = {"aten::detach", "aten::alias"}
_MADE_OF_OTHERS = {
    "aten::index",
    "aten::index_put_",
    "aten::index_put",
    "aten::_index_put_impl_",
    "aten::repeat_interleave",
}
"""Their kernels call operators whose sizes depend on values, and those must be seen."""


@dataclass(frozen=True)
class _Operator:
    """What is learnt of an operator once."""

    operator: Any
    name: str
    written: tuple[tuple[int, str], ...]
    """Arguments that it writes, by place and name."""
    is_random: bool
    is_left: bool
    is_made_of_others: bool
    has_unknown_size: bool
    """The size of what it gives depends on values."""


def _gives_a_view(schema: Any) -> bool:
    aliases = [one.alias_info for one in schema.returns]
    return any(alias is not None and not alias.is_write for alias in aliases) or schema.name in _VIEWS_UNSAID


class SmallValues:
    """Sees every operator of this thread, and of the backward passes that it starts."""

    def __init__(self, torch: Any, card: Control, assumptions: Assumptions) -> None:
        self._torch = torch
        self._card = card
        self._assumptions = assumptions
        self._operators: dict[str, _Operator] = {}
        self._plain = {torch.Tensor, torch.nn.Parameter}
        self._key = torch._C._parse_dispatch_key(_KEY)
        self._cuda_kernel = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)
        self._exclude = torch._C._dispatch_tls_set_dispatch_key_excluded
        memory = (ctypes.c_char * card.memory_bytes).from_address(card.memory_begin)
        self._memory = torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()
        self._random_state = torch.Generator().manual_seed(0).get_state()
        self._libraries = self._register()

    def begin(self) -> None:
        """See operators from now on."""
        self._torch._C._dispatch_tls_set_dispatch_key_included(self._key, True)

    # ---- the dispatcher
    def _register(self) -> list[Any]:
        """A kernel of ours for every operator that writes values; all others pass by.

        One fallback for all would be simpler, but PyTorch does not find it where a mode or a subclass of Tensor is at
        work.
        """
        library = self._torch.library.Library
        every, aten = library("_", "IMPL"), library("aten", "IMPL")
        every.fallback(self._torch.library.fallthrough_kernel, _KEY)
        for name in self._writing_operators():
            aten.impl(name, partial(self._handle, name), _KEY)
        return [every, aten]

    def _writing_operators(self) -> Iterator[str]:
        """Those with kernels of their own, without those that make another tensor over the same memory: of these
        nothing is to be computed, and some results must not be seen by Python before they become parameters."""
        has_kernel = self._torch._C._dispatch_has_kernel_for_dispatch_key
        for schema in self._torch._C._jit_get_all_schemas():
            if not schema.name.startswith("aten::") or _gives_a_view(schema):
                continue
            name = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
            try:
                if not has_kernel(name, "CompositeImplicitAutograd"):
                    yield name.removeprefix("aten::")
            except RuntimeError:  # TorchScript's own, which the dispatcher does not know
                continue

    def _handle(self, name: str, *args: Any, **kwargs: Any) -> Any:
        self._exclude(self._key, True)
        try:
            return self._run(self._operators.get(name) or self._learn(name), args, kwargs)
        finally:
            self._exclude(self._key, False)

    def _run(self, known: _Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        operator = known.operator
        if known.is_left:
            return self._left_to_the_card(known, operator, args, kwargs)
        tensors = list(self._tensors((*args, *kwargs.values())))
        on_card = [tensor for tensor in tensors if tensor.is_cuda]
        asked = kwargs.get("device")
        if not on_card and (asked is None or self._torch.device(asked).type != "cuda"):
            return operator(*args, **kwargs)
        if self._torch._C._len_torch_dispatch_stack() > 0 or not all(type(one) in self._plain for one in tensors):
            return operator(*args, **kwargs)
        if known.name == "aten::_local_scalar_dense":
            self._assumptions.note_read(on_card[0], self._is_known(on_card[0]))
            return operator(*args, **kwargs)
        if known.name in _SCALERS_CHECKS:
            self._assumptions.note_finite()
            return operator(*args, **kwargs)  # what it would write, 1 where one is not finite, stays 0
        if not all(map(self._is_small, tensors)):
            out = self._on_card(known, operator, args, kwargs)
            if known.has_unknown_size and not known.is_made_of_others:
                out = self._assume_size(known, out, tensors)
            return self._forget(known, out, args, kwargs)
        return self._compute(known, operator, args, kwargs, on_card)

    def _learn(self, name: str) -> _Operator:
        base, _, overload = name.partition(".")
        operator = getattr(getattr(self._torch.ops.aten, base), overload or "default")
        schema = operator._schema
        written = tuple(
            (place, argument.name)
            for place, argument in enumerate(schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        )
        tag = self._torch.Tag
        learnt = _Operator(
            operator,
            schema.name,
            written,
            is_random=tag.nondeterministic_seeded in operator.tags,
            is_left=schema.name in _LEFT_TO_THE_CARD,
            is_made_of_others=schema.name in _MADE_OF_OTHERS,
            has_unknown_size=tag.dynamic_output_shape in operator.tags,
        )
        self._operators[name] = learnt
        return learnt

    # ---- values
    def _compute(
        self, known: _Operator, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], on_card: list[Any]
    ) -> Any:
        are_true = all(map(self._is_known, on_card))
        twins = {id(tensor): self._twin(tensor) for tensor in on_card}
        cpu_args, cpu_kwargs = self._on_cpu(args, twins), self._on_cpu(kwargs, twins)
        written = list(self._written(known, args, kwargs))
        out = self._on_card(known, operator, args, kwargs)
        try:
            values = self._evaluate(known, operator, cpu_args, cpu_kwargs)
        except (NotImplementedError, RuntimeError, TypeError, IndexError, ValueError):
            return self._forget(known, out, args, kwargs)
        for tensor in written:
            self._mark(tensor, are_true)
        return self._store(out, values, are_true)

    def _on_card(self, known: _Operator, operator: Any, args: Any, kwargs: Any) -> Any:
        """The real operator; its kernels do nothing, its allocations are those of a real card."""
        if known.is_made_of_others:
            self._exclude(self._key, False)
            try:
                return operator.redispatch(self._cuda_kernel, *args, **kwargs)
            finally:
                self._exclude(self._key, True)
        self._card.distrust_reads(1)
        try:
            return operator(*args, **kwargs)
        finally:
            self._card.distrust_reads(0)

    def _assume_size(self, known: _Operator, out: Any, tensors: list[Any]) -> Any:
        """A result as large as is assumed, where it depends on values that are not known."""
        rows = self._assumptions.rows_of(known.name.removeprefix("aten::").strip("_"), tensors[0].numel())

        def sized(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return type(value)(map(sized, value))
            if not isinstance(value, self._torch.Tensor) or value.dim() == 0 or value.shape[0] != 0:
                return value
            return self._torch.zeros((rows, *value.shape[1:]), dtype=value.dtype, device=value.device)

        return sized(out)

    def _evaluate(self, known: _Operator, operator: Any, args: Any, kwargs: Any) -> Any:
        if not known.is_random:
            return operator(*args, **kwargs)
        # The program's own random numbers on the CPU must come out as they do without us.
        before = self._torch.get_rng_state()
        self._torch.set_rng_state(self._random_state)
        try:
            return operator(*args, **kwargs)
        finally:
            self._random_state = self._torch.get_rng_state()
            self._torch.set_rng_state(before)

    def _store(self, out: Any, values: Any, are_true: bool) -> Any:
        if isinstance(out, self._torch.Tensor):
            return self._store_one(out, values, are_true)
        if isinstance(out, (list, tuple)):
            return type(out)(self._store(one, value, are_true) for one, value in zip(out, values, strict=True))
        return out

    def _store_one(self, out: Any, value: Any, are_true: bool) -> Any:
        if not out.is_cuda or type(out) not in self._plain:
            return out
        if out.shape != value.shape:  # its size depends on values
            out = self._torch.empty(value.shape, dtype=value.dtype, device=out.device)
        if self._is_small(out):
            twin = self._twin(out)
            if twin.data_ptr() != value.data_ptr():
                twin.copy_(value)
            self._mark(out, are_true)
        else:
            self._mark(out, False)
        return out

    def _left_to_the_card(self, known: _Operator, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        out = operator(*args, **kwargs)
        if known.name not in ("aten::_to_copy", "aten::copy_"):
            return self._forget(known, out, (), {})
        to, source = (args[0], args[1]) if known.name == "aten::copy_" else (out, args[0])
        if type(to) not in self._plain or type(source) not in self._plain or not (to.is_cuda or source.is_cuda):
            return out
        is_true = not source.is_cuda or self._is_known(source)
        if source.is_cuda and not to.is_cuda:
            self._assumptions.note_read(source, is_true)
        if self._is_small(to) and self._is_small(source):
            self._view(to).copy_(self._view(source))
        else:
            is_true = False
        if to.is_cuda:
            self._mark(to, is_true)
        return out

    def _forget(self, known: _Operator, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a kernel wrote that computed nothing: zeros, which are not known to be true."""
        for tensor in (*self._tensors((out,)), *self._written(known, args, kwargs)):
            if tensor.is_cuda and type(tensor) in self._plain:
                self._mark(tensor, False)
                if self._is_small(tensor):
                    self._twin(tensor).zero_()
        return out

    # ---- tensors
    def _tensors(self, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            if isinstance(value, self._torch.Tensor):
                yield value
            elif isinstance(value, (list, tuple)):
                yield from self._tensors(value)

    def _written(self, known: _Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
        for place, name in known.written:
            yield from self._tensors([args[place] if place < len(args) else kwargs.get(name)])

    def _on_cpu(self, value: Any, twins: dict[int, Any]) -> Any:
        torch = self._torch
        if isinstance(value, torch.Tensor):
            return twins.get(id(value), value)
        if isinstance(value, (list, tuple)):
            return type(value)(self._on_cpu(one, twins) for one in value)
        if isinstance(value, dict):
            return {key: self._on_cpu(one, twins) for key, one in value.items()}
        if isinstance(value, torch.device):
            return torch.device("cpu") if value.type == "cuda" else value
        return None if isinstance(value, torch.Generator) else value

    def _view(self, tensor: Any) -> Any:
        return self._twin(tensor) if tensor.is_cuda else tensor

    def _twin(self, tensor: Any) -> Any:
        """The same memory as a tensor of the CPU."""
        empty = self._torch.empty(0, dtype=tensor.dtype)
        if tensor.numel() == 0:
            return empty.as_strided(tensor.shape, tensor.stride())
        offset = (tensor.data_ptr() - self._card.memory_begin) // tensor.element_size()
        return empty.set_(self._memory, offset, tensor.shape, tensor.stride())

    def _is_small(self, tensor: Any) -> bool:
        if tensor.numel() > MOST_ELEMENTS or tensor.layout is not self._torch.strided or tensor.is_quantized:
            return False
        return not tensor.is_cuda or self._span(tensor) <= _MOST_BYTES

    @staticmethod
    def _span(tensor: Any) -> int:
        """Bytes from the first element to the end of the last."""
        if tensor.numel() == 0:
            return 0
        last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
        return int((last + 1) * tensor.element_size())

    def _is_known(self, tensor: Any) -> bool:
        return tensor.numel() == 0 or bool(self._card.is_known(tensor.data_ptr(), self._span(tensor)))

    def _mark(self, tensor: Any, is_true: bool) -> None:
        if tensor.numel() > 0 and tensor.layout is self._torch.strided:
            self._card.set_known(tensor.data_ptr(), self._span(tensor), int(is_true))
