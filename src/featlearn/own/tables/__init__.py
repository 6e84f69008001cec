"""Tables on images of a user's own."""
