"""In-context learning and scale: what larger models attend to

Chapter 5 of the thesis (Shi, Wei, Xu & Liang) asks why larger language models are distracted by noise in
their prompt. Its theory of linear regression holds: the best attention of rank r keeps the first r
directions, and with noise a smaller rank can be better. It does not explain flipped labels: linear attention has
no prior, and when all labels are flipped every rank inverts, the best one most.

Its theory of sparse parities writes down heads that reach zero loss and calls them optimal. They are not: four heads
solve every task, and six with less norm than the printed six do at four features; the lightest found has full matrices.

Figures 5.1 to 5.3 can be drawn with any causal model in a folder. Without one, small transformers stand in; they
show the effect of size on documents with a prior, not Llama on English.
"""
