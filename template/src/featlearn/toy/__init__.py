"""A toy paper: how many noisy views show a feature?

A learner sees one feature through noise, a new view each time, and adds the views up. The noise of
one view hides the feature; that of many cancels. The sum of 32 views points along the feature with
a cosine of {{ value("alignment", views=32) | number }}, where the closed form says
{{ value("alignment", "predicted", views=32) | number }}.
"""
