"""What the two trainers share: processes on one weight vector, optimizer, schedule, records on disk."""
