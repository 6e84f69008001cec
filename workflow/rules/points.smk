# The run with some keys of its config changed: rules of further points, in the same plan. Jobs that
# the keys do not reach are those of the run; see core/run/points.py.

PLAN = Plan(workflow._rules, config, PUBLISHED, workflow.modifier.modify_rulename)
# of each point the experiments that its keys reach
REACHED = {}

for point in {one.slug: one for one in POINTS}.values():
    POINT_MODULE = point.prefix

    module:
        name: POINT_MODULE
        snakefile:
            str(ROOT / "workflow/point.smk")
        config:
            {**point.config, "point": point}

    use rule * from POINT_MODULE as POINT_MODULE*

    REACHED[point.slug] = PLAN.take(point, workflow.globals[POINT_MODULE].PUBLISHED)
