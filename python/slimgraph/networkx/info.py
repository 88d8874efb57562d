"""What NetworkX learns about the backend before it loads it."""

from typing import Any

# What each function does not take, and then leaves to NetworkX.
FUNCTIONS = {
    "all_pairs_bellman_ford_path_length": "Weights must not be negative, nor a function.",
    "all_pairs_dijkstra_path_length": "Weights must not be negative, nor a function.",
    "all_pairs_shortest_path_length": "",
    "ancestors": "",
    "average_clustering": "Undirected graphs without parallel edges; no weights.",
    "bellman_ford_path_length": "Weights must not be negative, nor a function.",
    "betweenness_centrality": "No weights and no endpoints.",
    "clustering": "Undirected graphs without parallel edges; no weights.",
    "connected_components": "",
    "core_number": "Undirected graphs.",
    "descendants": "",
    "descendants_at_distance": "",
    "dijkstra_path_length": "Weights must not be negative, nor a function.",
    "has_path": "",
    "is_connected": "",
    "is_weakly_connected": "",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": "All weights are 1; no self-loops, personalization, nstart, and dangling.",
    "shortest_path_length": "Weights must not be negative, nor a function.",
    "single_source_bellman_ford_path_length": "Weights must not be negative, nor a function.",
    "single_source_dijkstra_path_length": "Weights must not be negative, nor a function.",
    "single_source_shortest_path_length": "",
    "single_target_shortest_path_length": "",
    "transitivity": "Undirected graphs without parallel edges.",
    "triangles": "Graphs without parallel edges.",
    "weakly_connected_components": "",
}


def backend_info() -> dict[str, Any]:
    return {
        "backend_name": "slimgraph",
        "project": "slimgraph",
        "package": "slimgraph",
        "short_summary": "Graph algorithms over the memory of several nodes.",
        "functions": {
            name: {"additional_docs": limits} if limits else {}
            for name, limits in FUNCTIONS.items()
        },
        "default_config": {"nodes": 1, "compute": 1, "threads": None},
    }
