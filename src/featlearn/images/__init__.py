"""Images: what several papers do with pictures. Knows no paper."""
