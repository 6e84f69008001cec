"""How figures look: style, colours, intervals."""
