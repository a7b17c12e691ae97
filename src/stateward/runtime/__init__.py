"""A small controller runtime: informers, work queue, controllers, election, what they tell."""
