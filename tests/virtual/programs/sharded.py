"""A job of several ranks: FSDP2, a layer cut by columns and rows, DDP, and objects that are exchanged."""

from __future__ import annotations

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

SIZE = 1024
STEPS = 3


class Layer(nn.Module):
    """A layer with a residual."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(SIZE, 4 * SIZE), nn.Linear(4 * SIZE, SIZE)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Up and down again."""
        down: torch.Tensor = self.down(nn.functional.gelu(self.up(x)))
        return x + down


def main() -> None:
    """Train for a few steps, in two ways."""
    dist.init_process_group("cpu:gloo,cuda:nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.manual_seed(0)
    mesh = init_device_mesh("cuda", (world,))
    sharded = nn.Sequential(*(Layer() for _ in range(4))).cuda()
    for layer in sharded:
        fully_shard(layer, mesh=mesh)
    fully_shard(sharded, mesh=mesh)
    cut = parallelize_module(Layer().cuda(), mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    whole = nn.parallel.DistributedDataParallel(nn.Linear(SIZE, SIZE).cuda())
    parameters = [*sharded.parameters(), *cut.parameters(), *whole.parameters()]
    optimizer = torch.optim.AdamW(parameters, foreach=False)
    for _ in range(STEPS):
        x = torch.randn(64, SIZE, device="cuda")
        whole(cut(sharded(x))).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    given: list[dict[str, int] | None] = [None] * world
    dist.all_gather_object(given, {"of": world})
    loss = torch.ones((), device="cuda")
    dist.all_reduce(loss, op=dist.ReduceOp.AVG)
    told = ["by the first"] if rank == 0 else ["by nobody"]
    dist.broadcast_object_list(told, src=0)
    print(f"rank {rank} of {world}: {given[-1]}, average {loss.item()}, told {told[0]}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
