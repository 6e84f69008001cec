"""Images of your own

Networks that were pre-trained without labels on these images, beside the same networks without that
training, under the same budget: a linear probe and nearest neighbours on frozen features, and
fine-tuning with many and with few labels. Training images never serve as test images, and nothing was
chosen on test images. No setting was tuned to these images, so that a small difference may mean that the
training was too short, or that the images are too few to tell.
"""
# The pipeline is that of featlearn.mrp.images.real; here is what is shown of it.
