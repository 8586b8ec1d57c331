unit_config =
