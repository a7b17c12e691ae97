"""May we, now? Every guard has a name that reaches the user, and all of them are asked. Pure."""
