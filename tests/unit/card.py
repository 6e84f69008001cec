"""An accelerator for tests without one: the device ``meta``, whose tensors hold values here.

Within :func:`card` it computes, on the processor, and refuses what CUDA refuses: operands on two
devices, a generator of the processor for numbers of the card, a look at the memory as an array,
and what CUDA has no repeatable kernel for.
"""

import contextlib

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_flatten, tree_map

CARD = torch.device("meta")
#: What raises on CUDA by the text of ``torch.use_deterministic_algorithms``, by operator.
UNREPEATABLE = {
    "_adaptive_avg_pool2d_backward", "adaptive_max_pool2d_backward", "grid_sampler_2d_backward",
    "upsample_bilinear2d_backward", "upsample_bicubic2d_backward", "reflection_pad2d_backward",
    "nll_loss2d_forward", "histc", "kthvalue", "put_", "median.dim", "nanmedian.dim",
}  # fmt: skip
#: Operators that take tensors of both devices; of the second kind, indices of the processor.
CROSSING = {"copy_", "_to_copy", "_local_scalar_dense"}
INDEXED = {"index", "index_put", "index_put_", "_index_put_impl_"}


class OnCard(torch.Tensor):
    """A tensor of the card, with its values on the processor."""

    @staticmethod
    def __new__(cls, value):
        return torch.Tensor._make_wrapper_subclass(
            cls, value.size(), strides=value.stride(), storage_offset=value.storage_offset(),
            dtype=value.dtype, device=CARD,
        )  # fmt: skip

    def __init__(self, value):
        self.value = value

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})


def _is_card(device):
    return device is not None and torch.device(device) == CARD


def _refuse(func, name, args, held, flat):
    """Raise what CUDA raises; ``held``: tensors of the card among the arguments ``flat``."""
    apart = [one for one in flat if isinstance(one, torch.Tensor) and not isinstance(one, OnCard)]
    if name in INDEXED:
        apart = [one for one in apart if any(one is whole for whole in (args[0], *args[2:]))]
    apart = [one for one in apart if one.dim() or (one is args[0] and name.endswith("_"))]
    if apart and held and name not in CROSSING:
        raise RuntimeError(f"{func}: on the card, and {tuple(apart[0].shape)} on the processor")
    if any(isinstance(one, torch.Generator) for one in flat):
        raise RuntimeError(f"{func}: a generator of the processor for numbers of the card")
    if torch.get_deterministic_debug_mode() == 2 and (
        {name, f"{name}.{func._overloadname}"} & UNREPEATABLE
        or (name == "cumsum" and held[0].is_floating_point())
        or (name == "bincount" and len(held) > 1)
    ):
        raise RuntimeError(f"{func} has no repeatable kernel")


def _run(func, args, kwargs):
    name = func._schema.name.partition("::")[2]
    flat, _ = tree_flatten((args, kwargs))
    held = [one for one in flat if isinstance(one, OnCard)]
    lands = _is_card(kwargs["device"]) if kwargs.get("device") is not None else bool(held)
    if name == "copy_":
        lands = isinstance(args[0], OnCard)
    if lands:
        _refuse(func, name, args, held, flat)
    inner = tree_map(lambda one: one.value if isinstance(one, OnCard) else one, (args, kwargs))
    if _is_card(kwargs.get("device")):
        inner[1]["device"] = torch.device("cpu")
    known = {id(one.value): one for one in held}

    def shut(one):
        if not isinstance(one, torch.Tensor) or name == "_local_scalar_dense":
            return one
        if id(one) in known:
            return known[id(one)]
        return OnCard(one) if lands else one

    made = tree_map(shut, func(*inner[0], **inner[1]))
    if held and lands and name not in CROSSING:
        return return_and_correct_aliasing(func, args, kwargs, made)
    return made


class _Operators(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if _is_card(kwargs.get("device")) or any(
            isinstance(one, OnCard) for one in tree_flatten((args, kwargs))[0]
        ):
            return _run(func, args, kwargs)
        return func(*args, **kwargs)


class _Functions(TorchFunctionMode):
    """What PyTorch decides before an operator is called."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in (torch.tensor, torch.as_tensor) and _is_card(kwargs.get("device")):
            return func(*args, **{**kwargs, "device": "cpu"}).to(CARD)
        if args and isinstance(args[0], OnCard):
            if func is torch.Tensor.tolist:
                return args[0].detach().cpu().tolist()
            if func in (torch.Tensor.numpy, torch.Tensor.__array__):
                raise TypeError("a tensor of the card is no array")
        return func(*args, **kwargs)


@contextlib.contextmanager
def card():
    """The card, with repeatable kernels asked for as a job does."""
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("error")
    try:
        with _Functions(), _Operators():
            yield CARD
    finally:
        torch.set_deterministic_debug_mode(before)
