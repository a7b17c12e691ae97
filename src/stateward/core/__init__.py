"""Words that everyone uses: values, outcomes, errors, clock, chance. Standard library only."""
