"""Nuclear norm and unseen domains

Chapter 6 of the thesis (Shi, Ming, Fan, Sala & Liang) adds the nuclear norm of a batch of features to the loss, so that
few features are used and those of the environment go first. In its linear model the parts of Lemma 6.1 and Proposition
6.3 hold; an $l_2$ penalty begins to fail at a quarter of the printed number of features, which is sufficient but not
minimal. The nuclear norm whitens there, which helps between two thresholds in closed form. The accuracies 0.76 and 0.94
of its toy problem follow from no optimum.
"""
