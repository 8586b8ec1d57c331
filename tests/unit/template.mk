unit_template =
