unit_common =
