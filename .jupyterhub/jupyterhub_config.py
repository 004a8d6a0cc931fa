"""A JupyterHub for a class: everybody opens JupyterLab at the first chapter, with copies of their own.

Run it with `jupyterhub -f .jupyterhub/jupyterhub_config.py`, or let `load_subconfig` take it into one of your own.
Who may log in and where servers run (authenticator, spawner) is yours to say; the workbook asks for nothing there.
The environment of the users' servers needs `cedar-workbook` and `jupyterhub`, with its programs on the PATH.
"""

c = get_config()  # noqa: F821  # JupyterHub gives it to its configuration files

# The copies are made by the user's own process, so they are the user's files whatever the spawner is: a system
# user, a container, a pod. It happens at each start: after an upgrade new chapters appear, and nothing is ever
# overwritten. A full disk must not lock anybody out: the server starts all the same, and its log says what failed.
c.Spawner.cmd = ["sh", "-c", 'workbook start cedar-workbook; exec jupyterhub-singleuser "$@"', "sh"]
c.Spawner.default_url = "/lab/tree/cedar-workbook/00-start-here.ipynb"
