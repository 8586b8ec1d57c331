unit_supervisor =
