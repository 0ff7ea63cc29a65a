"""One process poses as a rank of a large job: `torch.distributed` finds a job of that size, and nobody is waited for.

NCCL's groups stay NCCL's, with their streams and buffers: the pretend card's NCCL answers with the rank's own data as
if it were everybody's, which is what ranks of like behaviour would give. What else goes over the network, the store in
which ranks meet and Gloo's groups, is answered in the same way here.
"""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gapless.virtual.meeting_place import meeting_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gapless.virtual.assumptions import Assumptions


@dataclass(frozen=True)
class Pose:
    """Who a process is taken for."""

    rank: int
    world: int
    """Ranks in the whole job."""
    local_world: int
    """Ranks in a machine, each with a card."""

    @property
    def variables(self) -> dict[str, str]:
        """What torchrun sets in the environment of a rank."""
        return {
            "RANK": str(self.rank),
            "WORLD_SIZE": str(self.world),
            "LOCAL_RANK": str(self.rank % self.local_world),
            "LOCAL_WORLD_SIZE": str(self.local_world),
            "GROUP_RANK": str(self.rank // self.local_world),
            "GROUP_WORLD_SIZE": str(-(-self.world // self.local_world)),
            "MASTER_ADDR": "localhost",
            "MASTER_PORT": "29500",
        }


def pose(torch: Any, world: int, assumptions: Assumptions) -> None:
    """Let `torch.distributed` of this process believe in a job of `world` ranks; the variables say which it is."""
    if not torch.distributed.is_available():
        return
    from torch._C._distributed_c10d import FakeProcessGroup  # noqa: PLC0415
    from torch.distributed import distributed_c10d as c10d  # noqa: PLC0415

    create = getattr(FakeProcessGroup, "_create_internal", FakeProcessGroup)
    # `rendezvous` holds it: one that C++ alone holds forgets its methods.
    store = meeting_place(torch.distributed.Store, world)

    class GlooType(type):
        """A class of which what stands in for Gloo is an instance: PyTorch asserts it."""

        def __call__(cls, _: Any, rank: int, size: int, *__: Any, **___: Any) -> Any:
            return create(rank, size)

        def __instancecheck__(cls, one: object) -> bool:
            return isinstance(one, FakeProcessGroup)

    class Gloo(metaclass=GlooType):
        """Groups of the host, of which this rank is alone."""

    def rendezvous(*_: Any, **__: Any) -> Iterator[tuple[Any, int, int]]:
        yield store, int(os.environ["RANK"]), world

    FakeProcessGroup._set_sequence_number_for_group = lambda _: None  # up to 2.6 Gloo's groups are asked to
    c10d.rendezvous, c10d.ProcessGroupGloo = rendezvous, Gloo
    c10d._get_split_source = lambda _: None  # NCCL is not told how many ranks a part of a group has
    _exchange_own_objects(c10d, assumptions)
    for name in ("broadcast_object_list", "scatter_object_list"):
        setattr(torch.distributed, name, getattr(c10d, name))


def _exchange_own_objects(c10d: Any, assumptions: Assumptions) -> None:
    """Objects that others would send: what this rank sends itself, or has already. Their bytes are not on the card."""
    to_tensor, last = c10d._object_to_tensor, [None]

    def give(given: Any, *rest: Any, **more: Any) -> Any:
        last[0] = given
        return to_tensor(given, *rest, **more)

    def keep(objects: list[Any], src: int | None = None, *_: Any, **__: Any) -> None:
        """A list that another rank would fill stays as this one has it."""
        if src != c10d.get_rank():
            assumptions.note_not_sent("the objects that another rank broadcasts stayed as they were")

    def scatter(out: list[Any], given: Sequence[Any] | None = None, *_: Any, **__: Any) -> None:
        if given:
            out[0] = given[c10d.get_rank() % len(given)]
        else:
            assumptions.note_not_sent("the object that another rank scatters stayed as it was")

    c10d._object_to_tensor = give
    c10d._tensor_to_object = lambda *_, **__: copy.deepcopy(last[0])
    c10d.broadcast_object_list, c10d.scatter_object_list = keep, scatter
