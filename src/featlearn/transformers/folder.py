"""A model of `transformers` from a folder: nothing downloaded, unpickled or run from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from featlearn.core.errors import FeatlearnError

#: One of them must lie in the folder.
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


def load(folder: Path) -> tuple[Any, Any]:
    """A causal language model and its tokenizer, in float32 and for evaluation.

    ``folder``: ``config.json``, weights as ``*.safetensors`` and the files of a tokenizer, as
    ``save_pretrained`` writes them. Returns ``model, tokenizer``, as of ``AutoModelForCausalLM``
    and ``AutoTokenizer``; no weight asks for gradients. Raises FeatlearnError, naming the file, if
    something is missing or damaged, is a pickle, or asks for code of its own.
    """
    return _loaded(folder, "AutoModelForCausalLM", "a causal language model")


def load_encoder(folder: Path) -> tuple[Any, Any]:
    """The same for an encoder of texts such as BERT, of ``AutoModel`` (its pooler may lack)."""
    return _loaded(folder, "AutoModel", "an encoder of texts", unused="pooler")


def _loaded(folder: Path, kind: str, words: str, unused: str | None = None) -> tuple[Any, Any]:
    folder = Path(folder).expanduser()
    _refuse(folder)
    try:
        import transformers
    except ImportError as error:
        raise FeatlearnError(
            f"{folder}: needs the library transformers; install featlearn[language]"
        ) from error
    local = {"local_files_only": True, "trust_remote_code": False}
    # what it gives back depends on what it is given, which its types do not say
    models: Any = getattr(transformers, kind)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **local)
        model, told = models.from_pretrained(
            folder, **local, use_safetensors=True, dtype=torch.float32, output_loading_info=True
        )
    except Exception as error:  # each kind of model has its own ways to fail
        raise FeatlearnError(f"{folder}: not {words}; {error}") from error
    # the library would fill them with random numbers
    for key in ("missing_keys", "mismatched_keys"):
        lacking = sorted(map(str, told.get(key, ())))
        if names := [name for name in lacking if unused is None or unused not in name]:
            raise FeatlearnError(
                f"{folder}: {len(names)} weights have no value that fits, such as {names[0]}; "
                "expected all that config.json names"
            )
    return model.eval().requires_grad_(False), tokenizer


def _refuse(folder: Path) -> None:
    """Say what is missing, and what must not be loaded."""
    if not folder.is_dir():
        raise FeatlearnError(
            f"{folder}: no such folder; expected one with config.json, *.safetensors and the files "
            "of a tokenizer"
        )
    config = folder / "config.json"
    if not config.is_file():
        raise FeatlearnError(f"{config}: no such file; expected the config of a model")
    if not any(folder.glob("*.safetensors")):
        pickles = [file.name for kind in PICKLES for file in sorted(folder.glob(kind))]
        found = f"; {pickles[0]} is a pickle, which is not read" if pickles else ""
        raise FeatlearnError(f"{folder}: no weights; expected *.safetensors{found}")
    if not any((folder / name).is_file() for name in TOKENIZERS):
        raise FeatlearnError(f"{folder}: no tokenizer; expected one of {', '.join(TOKENIZERS)}")
    if (adapter := folder / "adapter_config.json").exists():
        raise FeatlearnError(f"{adapter}: an adapter; expected a model it was merged into")
    for file in (config, folder / "tokenizer_config.json"):
        if file.is_file():
            _refuse_code(file)


def _refuse_code(file: Path) -> None:
    """Settings by which the library would run code of others, or read weights of other kinds."""
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FeatlearnError(f"{file}: not JSON; {error}") from error
    if not isinstance(settings, dict):
        raise FeatlearnError(f"{file}: {type(settings).__name__}; expected an object")
    for key, value in _settings(settings):
        if key == "auto_map":
            raise FeatlearnError(f"{file}: auto_map asks for code of its own, which is not run")
        if key == "quantization_config" and value:
            raise FeatlearnError(f"{file}: quantization_config; expected weights that are floats")
        # kernels by the name of a repository
        if "implementation" in key and "/" in str(value):
            raise FeatlearnError(f"{file}: {key}: {value} is code of others, which is not run")


def _settings(found: object) -> Iterator[tuple[str, object]]:
    if isinstance(found, dict):
        for key, value in found.items():
            yield str(key), value
            yield from _settings(value)
    elif isinstance(found, list):
        for value in found:
            yield from _settings(value)
