# Once a plan: the config is read and checked, damage is found.

open_notes(Path(".snakemake/featlearn-notes.json"))
workspace.announce(SOURCES, is_main=workflow.is_main_process)

# a plan keeps nearly all that it makes: to look for garbage costs a tenth of it, and finds none
if workflow.is_main_process and workflow.modifier.is_main_snakefile():
    gc.disable()

# where another profile was chosen, Snakemake has run the template by now: no job shall
if workflow.modifier.is_main_snakefile():
    given = tuple(map(Path, workflow.configfiles))
    fault = noted(
        f"guard {of_sources()} {of_files(given, Path.cwd())}",
        partial(guard.template_fault, ["--configfile", *map(str, given)]),
    )
    if fault:
        raise WorkflowError(fault)

ABSENT = in_words(missing_sets, config, ROOT)
config = in_words(load, config, ROOT)

# before any job, and the warm process, starts; a plan loads none of the libraries
if config["portable"]:
    portable.pin()

if workflow.is_main_process:
    for line in (*ABSENT, *workspace.mend(Path(config["results"]))):
        logger.warning(line)
elif warm.is_replaced(Path(config["results"])):
    # a job that waited at the scheduler while its run was killed and started anew
    raise WorkflowError(warm.REPLACED)
