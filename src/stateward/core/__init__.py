"""Words that everyone uses: values, outcomes, errors, the clock and chance. Standard library only."""
