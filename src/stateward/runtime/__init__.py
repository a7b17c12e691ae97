"""A small controller runtime: informers, a work queue, controllers, election, and what they tell."""
