"""Work that ends: Jobs, and CronJobs that start them."""
