[(node) (subgraph) (about) (entries)] @fold
