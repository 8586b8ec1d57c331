unit_workers =
