"""Architectures with random weights and small inputs, by name: ``zoo_models:torchvision_resnet18``.

``zoo.toml`` lists those that are recorded. A name is ``torchvision_NAME``, ``timm_NAME`` (dots as two underscores),
``transformers_NAME`` or ``torch_NAME``. ``make zoo`` installs the packages; no weights are downloaded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

Built = tuple[nn.Module, tuple[Any, ...]]
_SEED = 0


def __getattr__(name: str) -> Callable[[], Built]:
    package, _, architecture = name.partition("_")
    make = {"torchvision": _torchvision, "timm": _timm, "transformers": _transformers, "torch": _torch}.get(package)
    if make is None or not architecture:
        raise AttributeError(name)

    def build() -> Built:
        torch.manual_seed(_SEED)
        module, inputs = make(architecture)
        return module.eval(), inputs

    return build


def _images(size: int, channels: int = 3) -> tuple[torch.Tensor]:
    return (torch.randn(1, channels, size, size),)


#: Sizes of inputs that are not 64 × 64.
_SIZES = {
    "alexnet": 96,
    "inception_v3": 96,
    "maxvit_t": 224,
    "vit_b_32": 224,
}


def _torchvision(name: str) -> Built:
    define_missing_operators()
    import torchvision

    video = name in ("mc3_18", "r2plus1d_18", "r3d_18", "s3d")
    options: dict[str, Any] = {"weights": None}
    segments = name.startswith(("deeplabv3", "fcn", "lraspp"))
    if segments:
        options["weights_backbone"] = None
    if name in ("googlenet", "inception_v3"):
        options |= {"init_weights": False, "aux_logits": False}
    module = torchvision.models.get_model(name, **options)
    if video:
        return module, (torch.randn(1, 3, 16, 64, 64),)
    return module, _images(_SIZES.get(name, 64))


def _timm(name: str) -> Built:
    define_missing_operators()
    import timm

    module = timm.create_model(name.replace("__", "."), pretrained=False)
    channels, height, _ = module.default_cfg["input_size"]
    fixed = module.default_cfg.get("fixed_input_size", False)
    return module, _images(height if fixed else min(height, 128), channels)


_TEXT: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("BertConfig", "BertModel", {}),
    "roberta": ("RobertaConfig", "RobertaModel", {}),
    "distilbert": ("DistilBertConfig", "DistilBertModel", {"dim": 64, "hidden_dim": 128, "n_layers": 2, "n_heads": 2}),
    "albert": ("AlbertConfig", "AlbertModel", {"embedding_size": 32}),
    "electra": ("ElectraConfig", "ElectraModel", {"embedding_size": 32}),
    "mpnet": ("MPNetConfig", "MPNetModel", {}),
    "xlm_roberta": ("XLMRobertaConfig", "XLMRobertaModel", {}),
    "camembert": ("CamembertConfig", "CamembertModel", {}),
    "gpt2": ("GPT2Config", "GPT2Model", {"n_embd": 64, "n_layer": 2, "n_head": 2, "use_cache": False}),
    "opt": ("OPTConfig", "OPTModel", {"ffn_dim": 128, "word_embed_proj_dim": 64, "use_cache": False}),
    "llama": ("LlamaConfig", "LlamaModel", {"use_cache": False}),
    "mistral": ("MistralConfig", "MistralModel", {"num_key_value_heads": 2, "use_cache": False}),
    "qwen2": ("Qwen2Config", "Qwen2Model", {"num_key_value_heads": 2, "use_cache": False}),
    "gpt_neox": ("GPTNeoXConfig", "GPTNeoXModel", {"use_cache": False}),
    "phi": ("PhiConfig", "PhiModel", {"use_cache": False}),
    "t5_encoder": (
        "T5Config",
        "T5EncoderModel",
        {"d_model": 64, "d_ff": 128, "d_kv": 32, "num_layers": 2, "num_heads": 2},
    ),
}
_SMALL = {
    "vocab_size": 128,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 128,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_IMAGES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "vit": ("ViTConfig", "ViTModel", {"image_size": 32, "patch_size": 8}),
    "deit": ("DeiTConfig", "DeiTModel", {"image_size": 32, "patch_size": 8}),
    "dinov2": ("Dinov2Config", "Dinov2Model", {"image_size": 32, "patch_size": 8, "mlp_ratio": 2}),
}


class _FirstOutput(nn.Module):
    """Calls a model of transformers with tensors only, and returns its first output."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.model(inputs, return_dict=False)[0]


def _transformers(name: str) -> Built:
    define_missing_operators()
    import transformers

    config, model, options = (_TEXT | _IMAGES)[name]
    settings = {**_SMALL, **options, "attn_implementation": "eager"}
    if name in _IMAGES:
        settings = {key: value for key, value in settings.items() if not key.endswith("_token_id")}
    module = getattr(transformers, model)(getattr(transformers, config)(**settings))
    if name in _IMAGES:
        return _FirstOutput(module), _images(32)
    return _FirstOutput(module), (torch.randint(3, 128, (1, 16)),)


class _Recurrent(nn.Module):
    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        torch._dynamo.config.allow_rnn = True  # without it, Dynamo leaves these layers to eager Python
        self.cells = kind(16, 32, num_layers=2, batch_first=True)
        self.head = nn.Linear(32, 8)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.head(self.cells(inputs)[0])


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.attention(inputs, inputs, inputs)[0]


class _Bag(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(64, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.head(self.bag(inputs))


def _torch(name: str) -> Built:
    sequence = (torch.randn(1, 8, 16),)
    wide = (torch.randn(1, 8, 32),)
    image = _images(16)
    return {
        "lstm": lambda: (_Recurrent(nn.LSTM), sequence),
        "gru": lambda: (_Recurrent(nn.GRU), sequence),
        "rnn": lambda: (_Recurrent(nn.RNN), sequence),
        "attention": lambda: (_Attention(), wide),
        "encoder": lambda: (
            nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2),
            wide,
        ),
        "embedding_bag": lambda: (_Bag(), (torch.randint(0, 64, (2, 5)),)),
        "mlp": lambda: (nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Dropout(), nn.Linear(64, 8)), wide),
        "conv_bn": lambda: (nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 1)), image),
        "transposed_conv": lambda: (
            nn.Sequential(nn.ConvTranspose2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.SiLU()),
            image,
        ),
        "conv_1d": lambda: (nn.Sequential(nn.Conv1d(8, 16, 3), nn.BatchNorm1d(16), nn.ReLU()), sequence),
    }[name]()


_LIBRARY: torch.library.Library | None = None
#: The operators that torchvision registers fake kernels for, and that its compiled part, built for CUDA, would define.
_OPERATORS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)


def define_missing_operators() -> None:
    """Defines the operators that torchvision needs to be imported beside the CPU build of torch."""
    global _LIBRARY
    if _LIBRARY is not None:
        return
    _LIBRARY = torch.library.Library("torchvision", "DEF")
    for operator in _OPERATORS:
        with contextlib.suppress(RuntimeError):  # torchvision fits this torch, and has defined it
            _LIBRARY.define(operator)
