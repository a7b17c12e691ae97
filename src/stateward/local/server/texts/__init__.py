"""Bodies as text: YAML that is no more than JSON, and names that an object has twice."""
