"""Images of your own

Networks pre-trained without labels on these images, beside the same networks without that training,
under the same budget: a linear probe and nearest neighbours on frozen features, and fine-tuning
with many and with few labels. Training and test images are apart, and nothing was chosen on test
images. No setting was tuned to these images: a small difference may mean that the training was too
short, or that the images are too few.
"""
