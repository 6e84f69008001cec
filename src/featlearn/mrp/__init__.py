"""Pan, Zhou & Yan: why mask-reconstruction pre-training (MRP) helps in downstream tasks."""
