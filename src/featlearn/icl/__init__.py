"""In-context learning and scale: what larger models attend to

Chapter 5 of the thesis (Shi, Wei, Xu & Liang) asks why larger language models are distracted by noise in
their prompt. Its theory of linear regression holds: the best attention of rank r keeps the first r
directions, and with noise a smaller rank can be better. That is no account of flipped labels, though. Linear
attention has no prior, and when all labels are flipped every rank inverts, the best one the most.

Its theory of sparse parities writes down heads that reach zero loss and calls them optimal. They are not:
four heads solve every task, and six of less norm than the printed six do at four features, of least norm if
their matrices are not diagonal.

Figures 5.1 to 5.3 are drawn of any causal model in a folder of the user. Without one small transformers of
ours stand in for them, and show what sizes do on documents with a prior, not what Llama does on English.
"""
