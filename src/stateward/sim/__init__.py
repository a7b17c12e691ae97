"""The whole world in one process and one seed: virtual time, seeded order, faults."""
