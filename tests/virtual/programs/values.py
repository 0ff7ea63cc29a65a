"""Prints small values that a program may branch on: all must be those of a real card."""

import torch

x = torch.arange(10, device="cuda")
print("sum", x.sum().item(), "over five", (x > 5).any().item(), x[x > 5].tolist())
print("nonzero", torch.nonzero(x > 7).flatten().tolist(), "unique", torch.unique(x // 4).tolist())
mask = torch.ones(2, 8, dtype=torch.long, device="cuda")
mask[0, 5:] = 0
print("lengths", mask.sum(1).tolist(), "full", bool(mask.all()))
weight = torch.nn.Parameter(torch.zeros(3, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    ((weight - 1) ** 2).sum().backward()
    optimizer.step()
print("weight", [round(value, 3) for value in weight.tolist()])
scaler = torch.amp.GradScaler("cuda")
large = torch.nn.Parameter(torch.zeros(1 << 20, device="cuda"))
step = torch.optim.SGD([large], lr=0.1)
scaler.scale((large * 2).sum()).backward()
scaler.step(step)
scaler.update()
print("scale", scaler.get_scale())
print("moved", torch.cat([x, x]).view(2, 10).t().contiguous()[3].tolist(), "top", x.float().topk(2).indices.tolist())
steps = 0
counter = torch.zeros((), device="cuda")
while counter < 4:
    counter += 1
    steps += 1
print("steps", steps)
torch.manual_seed(1)
print("cpu", round(torch.rand(1).item(), 4))
torch.rand(4, device="cuda")
print("cpu", round(torch.rand(1).item(), 4))
