"""Image data sets: readers of files, a cache of decoded images, splits."""
