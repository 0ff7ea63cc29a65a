"""What memory in use is for: weights, gradients, optimizer state, activations, or something temporary.

stack_roles          what kind of code allocated, told by a stack
phases               where the program is in forward, backward and optimizer
lifetimes            how long allocations live, in phases
gradients            those of weights
same_place_before    what became of the allocations that took the same place before
weights_before       where weights from before the recording lie
memory_before        what else from before the recording is for
of_blocks            all of it put together: the kind of each block
"""
