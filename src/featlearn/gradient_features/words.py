"""What the laws are called in figures and tables, in the order in which they are shown."""

LAWS = {
    "linear": "linear",
    "mixture": "mixture",
    "xor": "XOR",
    "parity": "parity, one block",
    "parity_blocks": "parity, blocks",
    "uniform_parity": "uniform parity",
    "multi_index": "multiple index",
}
