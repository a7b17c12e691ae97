"""What a user installs: the chart, rendered by ourselves for those who do not use Helm."""
