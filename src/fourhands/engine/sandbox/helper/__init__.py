"""The program that enters sandboxes: imported by no one, run by ``fourhands.engine.sandbox.client``.

It holds the standard library only, so that it starts without ``site``. One server process forks one child a
request; the child answers on the request's own socket, and ends what it started when that socket closes. So
nothing outlives its owner, however that owner ends.
"""
