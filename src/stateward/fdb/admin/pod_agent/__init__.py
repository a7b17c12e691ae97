"""The sidecar of a split pod: what we ask of it, and how that is done over HTTP."""

from stateward.fdb.admin.pod_agent.port import AgentRefused, PodAgent, PodAgents

__all__ = ["AgentRefused", "PodAgent", "PodAgents"]
