"""Object detection: Faster R-CNN (Ren et al. 2015) on one of our encoders, and its precision.

The region proposal network and the heads are torchvision's. On CUDA with deterministic algorithms
torchvision pools regions slowly, as its kernel's gradient sums in no fixed order; :func:`pool` does
not.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.image_list import ImageList
from torchvision.ops import FeaturePyramidNetwork, MultiScaleRoIAlign

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.data.cache import BOX_COLUMNS
from featlearn.images.data.datasets import ImageSet
from featlearn.images.encoders.base import Encoder
from featlearn.images.encoders.convolutional import ResidualNet
from featlearn.images.rng import Draws
from featlearn.images.train.features import Preprocess, evaluating
from featlearn.images.train.loop import Report, fit
from featlearn.images.train.objective import Objective

#: Anchors of a single map: sides as shares of the image's side.
ANCHOR_SHARES = (0.15, 0.3, 0.5)
#: Anchors of a pyramid: side in cells of each map (torchvision: 32 pixels at stride 4).
ANCHOR_CELLS = 8


def pack_targets(boxes: Tensor, labels: Tensor, difficult: Tensor | None = None) -> Tensor:
    """Boxes and classes as one tensor, the ``labels`` of :func:`featlearn.images.train.loop.fit`.

    ``boxes`` (N, M, 4): ``x0, y0, x1, y1`` in pixels, half-open. ``labels`` int64 (N, M): class; -1
    for no object. ``difficult`` bool (N, M) or None: objects that are trained on, but neither
    wanted nor wrong in evaluation (VOC). Returns float32 (N, M, 6): box, class, 1 if difficult.
    Raises ValueError if shapes do not fit, or the box of an object is empty.
    """
    if boxes.shape != (*labels.shape, 4):
        raise ValueError(
            f"boxes: {tuple(boxes.shape)}; expected {(*labels.shape, 4)}, as labels have it"
        )
    empty = (boxes[..., 2:] <= boxes[..., :2]).any(-1) & (labels >= 0)
    if empty.any():
        image, number = empty.nonzero()[0].tolist()
        box = boxes[image, number].tolist()
        raise ValueError(f"boxes: object {number} of image {image} is empty: {box}")
    spared = torch.zeros_like(labels) if difficult is None else difficult
    return torch.cat([boxes.float(), torch.stack([labels, spared], -1).float()], -1)


def targets_of(images: ImageSet) -> Tensor:
    """All targets of a set, see :func:`pack_targets`; FeatlearnError if it has no boxes."""
    if (objects := images.objects) is None:
        raise FeatlearnError("boxes: this set has none; expected a detection set such as VOC")
    place = objects.groupby("image").cumcount().to_numpy()
    most = 1 + int(max(place, default=0))
    boxes = torch.zeros(len(images), most, 4)
    labels = torch.full((len(images), most), -1)
    difficult = torch.zeros(len(images), most, dtype=torch.bool)
    rows = (torch.tensor(objects["image"].to_numpy()), torch.tensor(place))
    boxes[rows] = torch.tensor(objects[list(BOX_COLUMNS)].to_numpy(np.float32))
    labels[rows] = torch.tensor(objects["label"].to_numpy(np.int64))
    difficult[rows] = torch.tensor(objects["difficult"].to_numpy(bool))
    return pack_targets(boxes, labels, difficult)


class Detector(Objective):
    """Faster R-CNN on an encoder.

    ``encoder``: any; a pyramid (Lin et al. 2017) needs a residual network. ``classes``: without the
    background. ``image_size``: side of the images in pixels. The others are explained with
    ``detector`` in docs/keys/images.md; ``anchor_sizes`` are all on a single map, and one for each
    map of a pyramid.
    """

    encoder: Encoder

    def __init__(
        self, encoder: Encoder, classes: int, image_size: int, *, pyramid: bool = False,
        pyramid_width: int = 64, anchor_sizes: Sequence[float] | None = None,
        anchor_ratios: Sequence[float] = (0.5, 1.0, 2.0), roi_size: int = 5, head_width: int = 128,
        proposals: int = 100, sampled_anchors: int = 64, sampled_regions: int = 64,
        most_detections: int = 20, least_score: float = 0.05, flip: bool = True,
        frozen_norms: bool = False,
    ):  # fmt: skip
        super().__init__()
        self.encoder, self.classes, self.flip = encoder, classes, flip
        self.frozen_norms = frozen_norms
        maps = _Maps(encoder, image_size, pyramid_width if pyramid else None)
        pooled = RegionPooling(maps.names, roi_size, sampling_ratio=2)
        parts = FasterRCNN(
            maps,
            num_classes=None,
            rpn_anchor_generator=_anchors(maps, image_size, anchor_sizes, anchor_ratios),
            rpn_pre_nms_top_n_train=3 * proposals,
            rpn_pre_nms_top_n_test=3 * proposals,
            rpn_post_nms_top_n_train=proposals,
            rpn_post_nms_top_n_test=proposals,
            rpn_batch_size_per_image=sampled_anchors,
            box_roi_pool=pooled,
            box_head=TwoMLPHead(maps.out_channels * roi_size**2, head_width),
            box_predictor=_predictor(head_width, classes + 1),
            box_batch_size_per_image=sampled_regions,
            box_detections_per_img=most_detections,
            box_score_thresh=least_score,
        )
        # of torchvision's detector all but its transform, which resizes images one by one
        self.pyramid, self.rpn, self.roi_heads = maps.pyramid, parts.rpn, parts.roi_heads
        self._maps = (maps,)  # in a tuple: its modules are registered above, once
        if frozen_norms:
            for norm in self._norms():
                norm.requires_grad_(False)

    def _norms(self) -> Iterator[nn.Module]:
        return (m for m in self.encoder.modules() if isinstance(m, nn.BatchNorm2d))

    def train(self, mode: bool = True) -> Detector:
        super().train(mode)
        if self.frozen_norms:
            for norm in self._norms():
                norm.eval()
        return self

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        """The sum of the four losses of Faster R-CNN, and each of them.

        ``images`` (B, 3, S, S): normalised. ``labels`` (B, M, 6): see :func:`pack_targets`.
        """
        if labels is None:
            raise ValueError("labels: expected boxes and classes, got none")
        if self.flip:
            chosen = (draws.uniform("flip") < 0.5).to(images.device)
            images, labels = flipped(images, labels, chosen)
        targets = [
            {"boxes": one[there, :4], "labels": one[there, 4].long() + 1}  # 0 is the background
            for one, there in zip(labels, labels[..., 4] >= 0, strict=True)
        ]
        # torchvision samples anchors and regions from PyTorch's own stream
        with torch.random.fork_rng([images.device] if images.device.type == "cuda" else []):
            draws.seed_torch("detection-samples", images.device)
            losses = self._run(images, targets)[1]
        return {"loss": torch.stack(list(losses.values())).sum(), **losses}

    def detect(self, images: Tensor) -> list[dict[str, Tensor]]:
        """Detections in normalised images (B, 3, S, S), in evaluation mode.

        Of each image ``boxes`` (m, 4), ``scores`` (m,) from the highest, ``labels`` (m,) from 0.
        """
        found = self._run(images, None)[0]
        return [{**one, "labels": one["labels"] - 1} for one in found]

    def _run(
        self, images: Tensor, targets: list[dict[str, Tensor]] | None
    ) -> tuple[list[dict[str, Tensor]], dict[str, Tensor]]:
        sizes = [(images.shape[-2], images.shape[-1])] * len(images)
        maps = self._maps[0](images)
        proposals, losses = self.rpn(ImageList(images, sizes), maps, targets)
        found, more = self.roi_heads(maps, proposals, sizes, targets)
        return found, {**more, **losses}


class _Maps(nn.Module):
    """Maps of the encoder by name, which torchvision's parts read."""

    def __init__(self, encoder: Encoder, image_size: int, width: int | None):
        super().__init__()
        self.encoder, self.pyramid = encoder, None
        if width is not None and not isinstance(encoder, ResidualNet):
            raise ConfigError(
                "detection.pyramid: true; expected a residual network, "
                f"not {type(encoder).__name__}"
            )
        with evaluating(encoder), torch.no_grad():
            device = next(encoder.parameters()).device
            seen = self._seen(torch.zeros(1, 3, image_size, image_size, device=device), width)
        if width is not None:
            self.pyramid = FeaturePyramidNetwork([one.shape[1] for one in seen.values()], width)
        self.names = list(seen)
        self.strides = [image_size // one.shape[-1] for one in seen.values()]
        self.out_channels = encoder.width if width is None else width

    def _seen(self, images: Tensor, width: int | None) -> OrderedDict[str, Tensor]:
        if width is None or not isinstance(self.encoder, ResidualNet):
            return OrderedDict(last=self.encoder.feature_map(images))
        seen, last = OrderedDict[str, Tensor](), self.encoder.stem(images)
        for stage in self.encoder.stages:
            last = seen[stage] = getattr(self.encoder, stage)(last)
        return seen

    def forward(self, images: Tensor) -> OrderedDict[str, Tensor]:
        if self.pyramid is None:
            return self._seen(images, None)
        return self.pyramid(self._seen(images, self.out_channels))


def _predictor(width: int, classes: int) -> FastRCNNPredictor:
    """Class scores and box corrections of each region; starts near zero, as in the paper."""
    made = FastRCNNPredictor(width, classes)
    for layer, std in ((made.cls_score, 0.01), (made.bbox_pred, 0.001)):
        nn.init.normal_(layer.weight, std=std)
        nn.init.zeros_(layer.bias)
    return made


def _anchors(
    maps: _Maps, image_size: int, sizes: Sequence[float] | None, ratios: Sequence[float]
) -> AnchorGenerator:
    if maps.pyramid is None:
        chosen = sizes or [share * image_size for share in ANCHOR_SHARES]
        of_maps = [tuple(chosen)]
    else:
        chosen = sizes or [ANCHOR_CELLS * stride for stride in maps.strides]
        if len(chosen) != len(maps.names):
            raise ConfigError(
                f"detection.anchor_sizes: {list(chosen)}; expected one for each of the "
                f"{len(maps.names)} maps of the pyramid"
            )
        of_maps = [(size,) for size in chosen]
    return AnchorGenerator(tuple(of_maps), (tuple(ratios),) * len(of_maps))


def flipped(images: Tensor, targets: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """Mirror the chosen images (B, 3, S, S) and their targets (B, M, 6), left to right."""
    mirrored = targets.clone()
    mirrored[..., 0] = images.shape[-1] - targets[..., 2]
    mirrored[..., 2] = images.shape[-1] - targets[..., 0]
    return (torch.where(chosen[:, None, None, None], images.flip(-1), images),
            torch.where(chosen[:, None, None], mirrored, targets))  # fmt: skip


def detect(
    detector: Detector, images: Tensor, preprocess: Preprocess, *, batch: int = 64,
    device: torch.device | str = "cpu",
) -> list[dict[str, Tensor]]:  # fmt: skip
    """Detections in uint8 images (N, 3, S, S), on the CPU; see :meth:`Detector.detect`."""
    detector.to(device)
    found: list[dict[str, Tensor]] = []
    with evaluating(detector), torch.inference_mode():
        for number, start in enumerate(range(0, len(images), batch)):
            part = images[start : start + batch].to(device)
            inputs = preprocess(part, Draws(("evaluation",), number, len(part)))
            found += detector.detect(inputs)
    return [{name: tensor.cpu() for name, tensor in one.items()} for one in found]


def detection_precision(found: Sequence[dict[str, Tensor]], targets: Tensor) -> dict[str, float]:
    """Average precision, mean over classes, with COCO's 101 levels of recall.

    ``found``: detections of each image, as :func:`detect` gives them. ``targets`` (N, M, 6): see
    :func:`pack_targets`. Returns ``ap50``, ``ap75``: a detection is right if its intersection over
    union with an object of its class that no better one has taken is at least 0.5, or 0.75; ``ap``:
    mean over the thresholds 0.5, 0.55, ..., 0.95.
    """
    from torchmetrics.detection import MeanAveragePrecision  # slow to import

    if len(found) != len(targets):
        raise ValueError(f"found: {len(found)} images; expected {len(targets)}, as targets has")
    most = max([100, *(len(one["scores"]) for one in found)])
    metric = MeanAveragePrecision(
        backend="faster_coco_eval", max_detection_thresholds=[1, 10, most]
    )
    wanted = [
        {"boxes": one[there, :4], "labels": one[there, 4].long(), "iscrowd": one[there, 5].long()}
        for one, there in zip(targets, targets[..., 4] >= 0, strict=True)
    ]
    metric.update(list(found), wanted)
    values = metric.compute()
    names = {"ap": "map", "ap50": "map_50", "ap75": "map_75"}
    return {ours: float(values[theirs]) for ours, theirs in names.items()}


def precision(
    encoder: Encoder, train: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor], classes: int,
    settings: Mapping[str, Any], plain: Augment, name: tuple[object, ...], device: torch.device,
    report: Report | None = None,
) -> dict[str, float]:  # fmt: skip
    """Average precisions (``ap``, ``ap50``, ``ap75``) after training a detector on an encoder.

    ``encoder``: is trained, too. ``train``, ``test``: images uint8 (N, 3, S, S) and targets (N, M,
    6). ``classes``: their number. ``settings``: ``detector`` (options of :class:`Detector`) and
    ``training``. ``plain``: normalisation; the detector mirrors images itself. ``name``: of the
    random streams, the same for encoders that are compared.
    """
    with seeded(*name, "detector"):
        detector = Detector(encoder, classes, train[0].shape[-1], **settings["detector"])
    training = settings["training"]
    fit(detector, *train, plain, training, (*name, "detection"), device, report=report)
    return detection_precision(detect(detector, test[0], plain, device=device), test[1])


# RoIAlign (He et al. 2017) is linear in the map and separable: a matrix for the rows and one for
# the columns of each region. On a small map two products are several times faster than
# torchvision's kernel, and on CUDA their gradient sums in a fixed order.

#: Maps of more cells are left to torchvision: products read all of a map for each region.
MOST_CELLS = 256


def interpolation(low: Tensor, high: Tensor, cells: int, count: int, points: int) -> Tensor:
    """Share of each row of a map in each cell of the pooled regions, (R, count, cells).

    ``low``, ``high`` (R,): edges of the regions along one axis, in cells of the map. ``cells``,
    ``count``, ``points``: along this axis the cells of the map, the cells that a region is pooled
    to, and the points of such a cell. Points up to a cell outside the map read its edge, others
    nothing.
    """
    step = (high - low).clamp(min=1) / count
    place = (torch.arange(count * points, device=low.device, dtype=low.dtype) + 0.5) / points
    at = low[:, None] + place * step[:, None]
    inside = (at >= -1) & (at <= cells)
    rows = torch.arange(cells, device=low.device, dtype=low.dtype)
    near = 1 - (at.clamp(0, cells - 1)[..., None] - rows).abs()
    share = near.clamp(min=0) * inside[..., None]
    return share.view(len(low), count, points, cells).mean(2)


def pool(maps: Tensor, boxes: Sequence[Tensor], size: int, scale: float, points: int) -> Tensor:
    """RoIAlign of boxes on maps, as ``torchvision.ops.roi_align`` with ``aligned=False``.

    ``maps`` (B, C, H, W). ``boxes``: for each map (R, 4): ``x0, y0, x1, y1`` in pixels. ``scale``:
    cells of a map for each pixel. ``points``: of a pooled cell along each axis. Returns (sum of R,
    C, size, size).
    """
    # as torchvision's kernel: places of points need float32, whatever the network computes in
    exact = maps.to(torch.promote_types(maps.dtype, torch.float32))
    channels, height, width = maps.shape[1:]
    counts = [len(own) for own in boxes]
    with torch.autocast(maps.device.type, enabled=False):
        x0, y0, x1, y1 = (torch.cat(list(boxes)).to(exact.dtype) * scale).unbind(1)
        rows = torch.split(interpolation(y0, y1, height, size, points), counts)
        columns = interpolation(x0, x1, width, size, points)
        # (H, C * W) of each map: all its regions in one product
        flat = exact.permute(0, 2, 1, 3).flatten(2)
        read = torch.cat([one.flatten(0, 1) @ own for one, own in zip(rows, flat, strict=True)])
        pooled = read.view(len(columns), size * channels, width) @ columns.mT
    return pooled.view(len(columns), size, channels, size).transpose(1, 2).to(maps.dtype)


class RegionPooling(MultiScaleRoIAlign):  # type: ignore[misc]
    """torchvision's pooling of regions, by products on a single map that is small."""

    def forward(
        self, x: dict[str, Tensor], boxes: list[Tensor], image_shapes: list[tuple[int, int]]
    ) -> Tensor:
        """As in torchvision: maps by name, boxes of each image, and sizes of the images."""
        named = [x[name] for name in self.featmap_names if name in x]
        if len(named) > 1 or named[0].shape[-2:].numel() > MOST_CELLS:
            return super().forward(x, boxes, image_shapes)
        pixels = max(height for height, _ in image_shapes)
        scale = 2.0 ** round(math.log2(named[0].shape[-2] / pixels))
        return pool(named[0], boxes, self.output_size[0], scale, self.sampling_ratio)
