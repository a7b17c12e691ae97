"""Custom resource definitions from the types that we read: one source for Python and the server.

fields.py       marks beside a field: description, promised default, rules, list types
schema.py       a type becomes a structural schema
marks.py        what the marks beside it add
definitions.py  Kubernetes' own types, inlined from the schemas that we ship
nodes.py        walking through a schema
checks.py       what the API server would refuse, found before it is asked
values.py       does a default fit the schema it stands in?
kind.py         the document: names, versions, columns, subresources
text.py         the document as YAML
problems.py     what is wrong with a schema, and where
"""
