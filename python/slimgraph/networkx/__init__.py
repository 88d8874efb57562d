"""SlimGraph as a backend of NetworkX.

>>> import networkx as nx
>>> graph = nx.karate_club_graph()
>>> sum(nx.triangles(graph, backend="slimgraph").values()) // 3
45

`nx.config.backends.slimgraph` has the fields `nodes`, `compute` and `threads` of the session that
the backend uses. What the backend cannot do runs in NetworkX itself.
"""
