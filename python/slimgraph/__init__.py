"""SlimGraph: graph jobs over the memory of many nodes."""
