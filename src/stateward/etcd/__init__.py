"""The etcd operator: EtcdCluster, kept steady by one move at a time.

See (``observe``), judge (``decide``: the chart, pure), do (``moves``: one short verb each), tell
(``tell``: conditions, blockers, progress). How etcd is asked is ``members``; what objects a cluster
is made of is ``build``.
"""
