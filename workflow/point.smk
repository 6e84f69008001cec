# A point of a run: the rules of its papers, with its config and below its folder; see rules/points.smk.


include: "rules/common.smk"
include: "rules/base.smk"


for paper in config["papers"]:
    PUBLISHED.paper(paper)

    include: f"rules/{paper}.smk"


include: "rules/exhibits.smk"
