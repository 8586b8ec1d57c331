unit_data =
